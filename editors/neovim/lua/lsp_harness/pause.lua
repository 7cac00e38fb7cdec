--- Pauses the ghost text of the server. Only the server can pause it in other editor windows.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local server = require('lsp_harness.server')

local M = {}

---@alias lsp_harness.Scope 'here'|'everywhere'

---@param client vim.lsp.Client
---@param scope lsp_harness.Scope
---@param is_paused boolean
---@param on_result? fun(paused: false|lsp_harness.Scope)
local function send_pause(client, scope, is_paused, on_result)
  if not server.provides(client, commands.pause) then
    return
  end
  client:request(
    'workspace/executeCommand',
    { command = commands.pause, arguments = { scope, is_paused } },
    function(err, result)
      if err then
        notify('cannot pause or resume: ' .. err.message, vim.log.levels.ERROR)
      elseif on_result then
        on_result(result and result.paused)
      end
    end
  )
end

---@param scope lsp_harness.Scope
function M.pause(scope)
  local clients = server.clients()
  for _, client in ipairs(clients) do
    send_pause(client, 'here', true)
  end
  if scope == 'everywhere' then
    local capable_client = vim.iter(clients):find(function(client)
      return server.provides(client, commands.pause)
    end)
    if capable_client then
      send_pause(capable_client, 'everywhere', true)
    else
      notify('paused in this Neovim only: no server here can pause other windows', vim.log.levels.WARN)
    end
  end
end

--- End the pause of this Neovim and the pause of all windows.
function M.resume()
  for _, client in ipairs(server.clients()) do
    send_pause(client, 'here', false, function(paused)
      if paused == 'everywhere' then
        send_pause(client, 'everywhere', false)
      end
    end)
  end
end

--- Tell a server that was started during a pause about the pause.
---@param client vim.lsp.Client
function M.sync_new_client(client)
  local status = require('lsp_harness.status').get(client.id)
  if require('lsp_harness').paused() and not (status and status.paused) then
    send_pause(client, 'here', true)
  end
end

return M
