--- Tells the server whether the user trusts the workspace. In an untrusted workspace the server reads no project
--- settings, runs no linter on the code and writes nothing about it to disk.

local config = require('lsp_harness.config')

local M = {}

--- Ask the user once per folder. Neovim stores the answer together with those of `:trust`.
---@param root? string
---@return boolean
local function ask_user(root)
  return root ~= nil and vim.secure.read(root) == true
end

---@param root? string
---@return boolean
local function is_trusted(root)
  local trusted = config.trusted
  if trusted == 'ask' then
    return ask_user(root)
  elseif type(trusted) == 'function' then
    return trusted(root) == true
  end
  return trusted == true
end

--- The `before_init` callback of the client. Adds `trusted` to the initialization options, unless the user has set it.
---@param params lsp.InitializeParams
---@param client_config vim.lsp.ClientConfig
function M.add_to_init_options(params, client_config)
  local options = params.initializationOptions
  if options == nil or options == vim.NIL then
    options = {}
  end
  if type(options) == 'table' and options.trusted == nil then
    params.initializationOptions = vim.tbl_extend('force', options, { trusted = is_trusted(client_config.root_dir) })
  end
end

return M
