--- Pausing ghost text: here by ourselves, and by the server where it can, which alone reaches other windows.

local server = require('lsp_harness.server')
local tell = require('lsp_harness.tell')

local M = {}

---@alias lsp_harness.Scope 'here'|'everywhere'

---@param client vim.lsp.Client
---@param scope lsp_harness.Scope
---@param on boolean
---@param done? fun(paused: false|lsp_harness.Scope)
local function say(client, scope, on, done)
  if not server.offers(client, server.PAUSE) then
    return
  end
  client:request(
    'workspace/executeCommand',
    { command = server.PAUSE, arguments = { scope, on } },
    function(err, result)
      if err then
        tell('cannot pause or resume: ' .. err.message, vim.log.levels.ERROR)
      elseif done then
        done(result and result.paused)
      end
    end
  )
end

---@param scope lsp_harness.Scope
function M.pause(scope)
  local clients = server.all()
  for _, client in ipairs(clients) do
    say(client, 'here', true)
  end
  if scope == 'everywhere' then
    local able = vim.iter(clients):find(function(client)
      return server.offers(client, server.PAUSE)
    end)
    if able then
      say(able, 'everywhere', true)
    else
      tell('paused in this Neovim only: no server here can tell others', vim.log.levels.WARN)
    end
  end
end

--- Both kinds at once: who says resume wants suggestions.
function M.resume()
  for _, client in ipairs(server.all()) do
    say(client, 'here', false, function(paused)
      if paused == 'everywhere' then
        say(client, 'everywhere', false)
      end
    end)
  end
end

--- A server that was started while this Neovim is paused does not know yet.
---@param client vim.lsp.Client
function M.catch_up(client)
  local status = require('lsp_harness.status').of(client.id)
  if require('lsp_harness').paused() and not (status and status.paused) then
    say(client, 'here', true)
  end
end

return M
