--- Uses the server's definitions and references only in a buffer where no other server provides them. They are guesses
--- by names and imports.
---
--- Neovim asks every client of the buffer that supports a method and merges the answers. So our client reports a method
--- as unsupported while another client supports it. This is decided at each call because clients attach, detach and
--- register capabilities at any time.

local server = require('lsp_harness.server')

local M = {}

local METHODS = { ['textDocument/definition'] = true, ['textDocument/references'] = true }

---@type table<vim.lsp.Client, true>
local wrapped_clients = setmetatable({}, { __mode = 'k' })

---@param method string
---@param buf integer
---@return boolean
local function another_client_supports(method, buf)
  return vim.iter(vim.lsp.get_clients({ bufnr = buf })):any(function(client)
    return client.name ~= server.NAME and client:supports_method(method, buf)
  end)
end

--- Replace the client's `supports_method` by one that yields to other clients.
---@param client vim.lsp.Client
function M.wrap_client(client)
  if wrapped_clients[client] then
    return
  end
  wrapped_clients[client] = true
  local supports_method = client.supports_method
  client.supports_method = function(...)
    local self, method, buf = ...
    if self ~= client then
      -- Neovim still accepts `client.supports_method(method)` with a dot
      method, buf = self, method
    end
    -- Neovim 0.10 passes the buffer in a table; without a buffer the caller asks what the server can do at all
    buf = type(buf) == 'table' and buf.bufnr or buf
    if METHODS[method] and type(buf) == 'number' and another_client_supports(method, buf) then
      return false
    end
    return supports_method(...)
  end
end

return M
