--- Whether the user trusts a workspace. In one that is not, the server reads no settings of the project, gives its code
--- to no linter and writes nothing of it to disk.

local config = require('lsp_harness.config')

local M = {}

--- Asks, once a folder; the answer is kept where `:trust` keeps its own.
---@param root? string
---@return boolean
local function ask(root)
  return root ~= nil and vim.secure.read(root) == true
end

---@param root? string
---@return boolean
function M.of(root)
  local trusted = config.trusted
  if trusted == 'ask' then
    return ask(root)
  elseif type(trusted) == 'function' then
    return trusted(root) == true
  end
  return trusted == true
end

--- `before_init` of the client: adds the answer to the initialization options, unless the user has put one there.
---@param params lsp.InitializeParams
---@param client_config vim.lsp.ClientConfig
function M.tell(params, client_config)
  local options = params.initializationOptions
  if options == nil or options == vim.NIL then
    options = {}
  end
  if type(options) == 'table' and options.trusted == nil then
    params.initializationOptions = vim.tbl_extend('force', options, { trusted = M.of(client_config.root_dir) })
  end
end

return M
