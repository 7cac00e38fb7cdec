--- Definitions and references are guesses of our server's: it is asked for them only where no other server has any.
---
--- Neovim asks every client of the buffer that supports a method, and mixes what they say. So ours says that it does not
--- while another does. That is found out whenever somebody wants to know: others come, go and register what they can.

local server = require('lsp_harness.server')

local M = {}

local METHODS = { ['textDocument/definition'] = true, ['textDocument/references'] = true }

---@type table<vim.lsp.Client, true>
local seen = setmetatable({}, { __mode = 'k' })

---@param method string
---@param buf integer
---@return boolean
local function known_better(method, buf)
  return vim.iter(vim.lsp.get_clients({ bufnr = buf })):any(function(client)
    return client.name ~= server.NAME and client:supports_method(method, buf)
  end)
end

--- Makes a client of ours stand back.
---@param client vim.lsp.Client
function M.yield(client)
  if seen[client] then
    return
  end
  seen[client] = true
  local supports = client.supports_method
  client.supports_method = function(...)
    local self, method, buf = ...
    if self ~= client then
      -- Neovim still takes a call with a dot
      method, buf = self, method
    end
    -- 0.10 had the buffer in a table; who names none asks what the server can do at all
    buf = type(buf) == 'table' and buf.bufnr or buf
    if METHODS[method] and type(buf) == 'number' and known_better(method, buf) then
      return false
    end
    return supports(...)
  end
end

return M
