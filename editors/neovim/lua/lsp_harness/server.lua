--- The language server as Neovim knows it: a client with our name.

local M = {}

M.NAME = 'lsp_harness'
M.STATUS = 'lspHarness.status'

--- The client of a buffer, if it is ready and offers ghost text.
---@param buf integer
---@return vim.lsp.Client?
function M.client(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, name = M.NAME })) do
    if client.initialized and client.server_capabilities.inlineCompletionProvider then
      return client
    end
  end
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
