--- Shows the results of the server's commands. The names of the functions are the handlers in `lspHarness.commands`.

local notify = require('lsp_harness.notify')

local M = {}

--- Report the outcome of an edit command. The edit itself arrives as a `workspace/applyEdit` request.
---@param result any
function M.edit(result)
  if type(result) ~= 'table' or result == vim.NIL then
    return
  end
  local function non_empty(value)
    return type(value) == 'string' and value ~= '' and value or nil
  end
  if result.applied then
    notify(non_empty(result.summary) or 'applied')
  else
    local reason = non_empty(result.failureReason) or non_empty(result.summary) or 'the server gives no reason'
    notify('not applied: ' .. reason, reason ~= 'rejected' and vim.log.levels.WARN or nil)
  end
end

---@type string? the text that was shown last
local last_text

--- Show the Markdown in a result in a floating window, which closes when the cursor moves.
---
--- If the window shows this text already, the cursor moves into it. Otherwise the text replaces the shown one.
---@param result any
function M.text(result)
  local markdown = type(result) == 'table' and result.text or ''
  vim.lsp.util.open_floating_preview(
    vim.split(markdown, '\r?\n'),
    'markdown',
    { border = 'rounded', max_width = 100, focus_id = 'lsp_harness', focus = markdown == last_text }
  )
  last_text = markdown
end

return M
