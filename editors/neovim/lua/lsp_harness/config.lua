--- The plugin's own settings, with their defaults. What the *server* should do is set where Neovim keeps it:
--- `vim.lsp.config('lsp_harness', { cmd = ..., settings = { lspHarness = { ... } } })`.

---@class lsp_harness.Keymap
---@field accept? string take all of the ghost text
---@field accept_word? string take its next word
---@field accept_line? string take it to the end of its next line
---@field dismiss? string take it off the screen

---@class lsp_harness.Config
local defaults = {
  --- whether `setup` calls `vim.lsp.enable('lsp_harness')`
  ---@type boolean
  enable = true,
  --- milliseconds without a key before the server is asked; Neovim 0.12 and newer have their own and ignore this
  ---@type integer
  debounce_ms = 30,
  --- milliseconds without a move after which the server is told where the cursor rests, and reads what is around it
  ---@type integer
  rest_ms = 150,
  --- insert mode keys for `setup` to map; false maps nothing
  ---@type lsp_harness.Keymap|false
  keymap = false,
}

---@class lsp_harness.ConfigModule: lsp_harness.Config
local M = {}

--- Defaults with `options` on top. An option nobody reads is an error, or a typing mistake would go unnoticed.
---@param options? table
function M.set(options)
  options = options or {}
  vim.validate('options', options, 'table')
  for name in pairs(options) do
    if defaults[name] == nil then
      error(('lsp_harness.setup: there is no option %q'):format(name), 0)
    end
  end
  local new = vim.tbl_extend('force', defaults, options)
  vim.validate('enable', new.enable, 'boolean')
  vim.validate('debounce_ms', new.debounce_ms, 'number')
  vim.validate('rest_ms', new.rest_ms, 'number')
  vim.validate('keymap', new.keymap, function(value)
    return value == false or type(value) == 'table'
  end, 'false or a table')
  for name, value in pairs(new) do
    M[name] = value
  end
end

M.set()

return M
