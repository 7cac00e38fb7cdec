--- The language server as Neovim knows it: a client with our name, and what it may be asked to do.

local tell = require('lsp_harness.tell')

local M = {}

M.NAME = 'lsp_harness'

--- The names of its commands.
M.STATUS = 'lspHarness.status'
M.PAUSE = 'lspHarness.pause'
M.DISMISSED = 'lspHarness.dismissed'
M.MODELS = 'lspHarness.models'
M.PULL = 'lspHarness.pullModel'
M.RESTART_ENGINE = 'lspHarness.restartEngine'
M.STATISTICS = 'lspHarness.statistics'
M.INSTRUCT = 'lspHarness.instruct'
M.DOCSTRING = 'lspHarness.docstring'
M.TESTS = 'lspHarness.tests'
M.EXPLAIN = 'lspHarness.explain'
M.CONTEXT = 'lspHarness.context'
M.LOCATE = 'lspHarness.locate'
M.WHY = 'lspHarness.why'
--- The one it may ask us to run.
M.ASK = 'lspHarness.askInstruction'

--- The client of a buffer, once it is ready.
---@param buf integer
---@return vim.lsp.Client?
function M.client(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, name = M.NAME })) do
    if client.initialized then
      return client
    end
  end
end

--- The client of a buffer, else any: for what concerns a server and no text.
---@param buf integer
---@return vim.lsp.Client?
function M.any(buf)
  return M.client(buf) or M.all()[1]
end

--- Every client that is ready.
---@return vim.lsp.Client[]
function M.all()
  return vim
    .iter(vim.lsp.get_clients({ name = M.NAME }))
    :filter(function(client)
      return client.initialized
    end)
    :totable()
end

--- `M.client` or `M.any`, and a word to the user when there is none.
---@param find fun(buf: integer): vim.lsp.Client?
---@return vim.lsp.Client?
function M.needed(find)
  local client = find(vim.api.nvim_get_current_buf())
  if not client then
    tell('not attached to this buffer. See :checkhealth lsp_harness', vim.log.levels.WARN)
  end
  return client
end

--- Every buffer that has a client of ours.
---@return integer[]
function M.buffers()
  local found = {}
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME })) do
    for buf in pairs(client.attached_buffers) do
      found[buf] = true
    end
  end
  return vim.tbl_keys(found)
end

--- Whether the server says that it has a command. An older one may lack any but the first.
---@param client vim.lsp.Client
---@param name string
---@return boolean
function M.offers(client, name)
  local provider = client.server_capabilities.executeCommandProvider
  return type(provider) == 'table' and vim.list_contains(provider.commands or {}, name)
end

--- Runs a command a suggestion came with. Failing is no reason to interrupt somebody who types, so it is only logged.
---@param client_id integer
---@param command? lsp.Command
---@param buf integer
function M.run(client_id, command, buf)
  local client = vim.lsp.get_client_by_id(client_id)
  if command and client and not client:is_stopped() then
    client:exec_cmd(command, { bufnr = buf }, function(err)
      if err then
        vim.lsp.log.warn(M.NAME, command.command, err)
      end
    end)
  end
end

--- Tells the server, where it wants to know, that a suggestion was taken off the screen.
---@param client_id integer
---@param command? lsp.Command which the suggestion came with: its arguments name it
---@param buf integer
function M.dismissed(client_id, command, buf)
  local client = vim.lsp.get_client_by_id(client_id)
  if client and command and M.offers(client, M.DISMISSED) then
    M.run(client_id, { title = 'Dismissed', command = M.DISMISSED, arguments = command.arguments }, buf)
  end
end

--- Stops every client of ours and starts them again. One that is asked to stop and doesn't is made to: a server that
--- hangs is why people restart.
function M.restart()
  local old = vim.lsp.get_clients({ name = M.NAME })
  vim.lsp.enable(M.NAME, false)
  vim.lsp.enable(M.NAME, true)
  vim.defer_fn(function()
    for _, client in ipairs(old) do
      if not client.rpc.is_closing() then
        client.rpc.terminate()
      end
    end
  end, 2000)
end

return M
