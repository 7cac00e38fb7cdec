--- The plugin's own settings, with their defaults. What the *server* should do is set where Neovim keeps it:
--- `vim.lsp.config('lsp_harness', { cmd = ..., settings = { lspHarness = { ... } } })`.

---@class lsp_harness.Keymap
---@field accept? string take all of the ghost text
---@field accept_word? string take its next word
---@field accept_line? string take it to the end of its next line
---@field dismiss? string take it off the screen
---@field next? string show another suggestion instead
---@field previous? string the other way round
---@field suggest? string ask for a suggestion now

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
  --- whether Neovim 0.12 and newer draw ghost text themselves; false draws it as on 0.11
  ---@type boolean
  native = true,
  --- where an edit is shown before it is made: true is a floating window, 'tab' a tab page, false nowhere
  ---@type boolean|'tab'
  preview = true,
  --- whether the project's own settings are read, and its code given to linters. 'ask' asks once a folder and remembers
  --- the answer as |:trust| does
  ---@type boolean|'ask'|fun(root?: string): boolean
  trusted = true,
  --- how often within a minute a server that crashed is started again
  ---@type integer
  restarts = 3,
}

---@type table<string, fun(value: any): boolean>
local fits = {
  keymap = function(value)
    return value == false or type(value) == 'table'
  end,
  preview = function(value)
    return type(value) == 'boolean' or value == 'tab'
  end,
  trusted = function(value)
    return type(value) == 'boolean' or type(value) == 'function' or value == 'ask'
  end,
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
  for name, default in pairs(defaults) do
    vim.validate(name, new[name], fits[name] or type(default))
  end
  for name, value in pairs(new) do
    M[name] = value
  end
end

M.set()

return M
