--- `workspace/diagnostic/refresh`, which Neovim 0.11 does not know: what the server finds after an edit was taken would
--- be seen only after the next key.

local METHOD = 'textDocument/diagnostic'

local M = {}

---@param ctx lsp.HandlerContext
---@return any
function M.requested(err, params, ctx)
  local native = vim.lsp.handlers[ctx.method]
  if native then
    return native(err, params, ctx)
  end
  local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
  for buf in pairs(client.attached_buffers) do
    client:request(METHOD, { textDocument = vim.lsp.util.make_text_document_params(buf) }, nil, buf)
  end
  return vim.NIL
end

return M
