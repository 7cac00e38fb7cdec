--- Handler of `workspace/diagnostic/refresh`, which Neovim 0.11 does not have. Without it, a diagnostic that the server
--- finds after an edit was applied appears only after the next key.

local METHOD = 'textDocument/diagnostic'

local M = {}

--- Request the diagnostics of every attached buffer again. Uses Neovim's own handler where there is one.
---@param ctx lsp.HandlerContext
---@return any
function M.handle_request(err, params, ctx)
  local builtin_handler = vim.lsp.handlers[ctx.method]
  if builtin_handler then
    return builtin_handler(err, params, ctx)
  end
  local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
  for buf in pairs(client.attached_buffers) do
    client:request(METHOD, { textDocument = vim.lsp.util.make_text_document_params(buf) }, nil, buf)
  end
  return vim.NIL
end

return M
