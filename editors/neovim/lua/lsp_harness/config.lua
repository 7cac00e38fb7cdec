--- The options of the plugin, with their defaults. The settings of the *server* belong into Neovim's own configuration:
--- `vim.lsp.config('lsp_harness', { cmd = ..., settings = { lspHarness = { ... } } })`.

---@class lsp_harness.Keymap
---@field accept? string accept all of the ghost text
---@field accept_word? string accept its next word
---@field accept_line? string accept the rest of its line, or the next line
---@field dismiss? string hide it
---@field next? string show the next suggestion
---@field previous? string show the previous suggestion
---@field suggest? string request a suggestion now

---@class lsp_harness.Config
local defaults = {
  --- whether `setup` calls `vim.lsp.enable('lsp_harness')`
  ---@type boolean
  enable = true,
  --- milliseconds without a key before ghost text is requested; native ghost text (Neovim 0.12) has a delay of its own
  ---@type integer
  debounce_ms = 30,
  --- milliseconds without a cursor movement before the server receives the position and evaluates the text around it
  ---@type integer
  rest_ms = 150,
  --- insert mode keys that `setup` maps; false maps none
  ---@type lsp_harness.Keymap|false
  keymap = false,
  --- whether Neovim 0.12 and newer draw ghost text themselves; with false this plugin draws it, as on 0.11
  ---@type boolean
  native = true,
  --- where an edit is shown before it is applied: true in a floating window, 'tab' in a tab page, false nowhere
  ---@type boolean|'tab'
  preview = true,
  --- whether the server reads the project's settings and runs linters on its code; 'ask' asks once per folder and
  --- stores the answer as |:trust| does
  ---@type boolean|'ask'|fun(root?: string): boolean
  trusted = true,
  --- how often a crashed server is started again within a minute
  ---@type integer
  restarts = 3,
}

---@type table<string, fun(value: any): boolean>
local validators = {
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

--- Set the options, and every other option to its default. An unknown option is an error, so that a typing mistake is
--- noticed.
---@param options? table
function M.set(options)
  options = options or {}
  vim.validate('options', options, 'table')
  for name in pairs(options) do
    if defaults[name] == nil then
      error(('lsp_harness.setup: there is no option %q'):format(name), 0)
    end
  end
  local values = vim.tbl_extend('force', defaults, options)
  for name, default in pairs(defaults) do
    vim.validate(name, values[name], validators[name] or type(default))
  end
  for name, value in pairs(values) do
    M[name] = value
  end
end

M.set()

return M
