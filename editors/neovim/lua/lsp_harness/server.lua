--- The language server as Neovim knows it: the clients with its name, and the commands it provides.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')

local M = {}

M.NAME = 'lsp_harness'

--- The name of the client command that a code action of the server may run.
M.ASK_INSTRUCTION = 'lspHarness.askInstruction'

--- Time that a server has to stop before `restart` terminates it.
local STOP_TIMEOUT_MS = 2000

--- Return the initialized client of a buffer.
---@param buf integer
---@return vim.lsp.Client?
function M.client(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, name = M.NAME })) do
    if client.initialized then
      return client
    end
  end
end

--- Return the client of a buffer, or else any client. For requests that do not concern a text.
---@param buf integer
---@return vim.lsp.Client?
function M.any_client(buf)
  return M.client(buf) or M.clients()[1]
end

--- Return every initialized client.
---@return vim.lsp.Client[]
function M.clients()
  return vim
    .iter(vim.lsp.get_clients({ name = M.NAME }))
    :filter(function(client)
      return client.initialized
    end)
    :totable()
end

--- Return the client that `find` returns for the current buffer. Warn the user if there is none.
---@param find fun(buf: integer): vim.lsp.Client? `M.client` or `M.any_client`
---@return vim.lsp.Client?
function M.require_client(find)
  local client = find(vim.api.nvim_get_current_buf())
  if not client then
    notify('no server is attached to this buffer. See :checkhealth lsp_harness', vim.log.levels.WARN)
  end
  return client
end

--- Return every buffer that has a client of this server.
---@return integer[]
function M.buffers()
  local buffers = {}
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME })) do
    for buf in pairs(client.attached_buffers) do
      buffers[buf] = true
    end
  end
  return vim.tbl_keys(buffers)
end

--- Return whether the server provides a command. An older server may have none but the first.
---@param client vim.lsp.Client
---@param name string
---@return boolean
function M.provides(client, name)
  local provider = client.server_capabilities.executeCommandProvider
  return type(provider) == 'table' and vim.list_contains(provider.commands or {}, name)
end

--- Run the command of a suggestion or of a code action. An error is only logged, so that it does not interrupt a user
--- who types.
---@param client_id integer
---@param command? lsp.Command
---@param buf integer
function M.run_command(client_id, command, buf)
  local client = vim.lsp.get_client_by_id(client_id)
  if command and client and not client:is_stopped() then
    client:exec_cmd(command, { bufnr = buf }, function(err)
      if err then
        vim.lsp.log.warn(M.NAME, command.command, err)
      end
    end)
  end
end

--- Tell the server that the user dismissed a suggestion. An older server, which does not have the command, is not told.
---@param client_id integer
---@param command? lsp.Command the command of the suggestion; its arguments identify the suggestion
---@param buf integer
function M.report_dismissal(client_id, command, buf)
  local client = vim.lsp.get_client_by_id(client_id)
  if client and command and M.provides(client, commands.dismissed) then
    M.run_command(client_id, { title = 'Dismissed', command = commands.dismissed, arguments = command.arguments }, buf)
  end
end

--- Stop every client and start it again. A server that does not stop in time is terminated, because a server that hangs
--- is a common reason for a restart.
function M.restart()
  local old_clients = vim.lsp.get_clients({ name = M.NAME })
  vim.lsp.enable(M.NAME, false)
  vim.lsp.enable(M.NAME, true)
  vim.defer_fn(function()
    for _, client in ipairs(old_clients) do
      if not client.rpc.is_closing() then
        client.rpc.terminate()
      end
    end
  end, STOP_TIMEOUT_MS)
end

return M
