--- A suggestion on the screen: how it shrinks while the user types it, and how a part of it is inserted into the
--- buffer.

local cursor_state = require('lsp_harness.cursor_state')
local text = require('lsp_harness.text')

---@class lsp_harness.Ghost
---@field buf integer
---@field row integer row of the cursor, where the suggestion starts
---@field col integer
---@field rest string the text to insert at the cursor
---@field after string the text right of the cursor that it replaces
---@field head string the line left of the cursor
---@field tail string the line right of the cursor
---@field line_count integer number of lines in the buffer
---@field client_id integer
---@field command? lsp.Command run when the whole suggestion has been accepted

local M = {}

--- Create a suggestion from an LSP item. Return nil if the item cannot be shown as ghost text.
---@param item lsp.InlineCompletionItem
---@param cursor lsp_harness.CursorState
---@param client vim.lsp.Client
---@return lsp_harness.Ghost?
function M.new(item, cursor, client)
  local line = cursor_state.line(cursor.buf, cursor.row)
  local rest, after = text.from_item(item, line, cursor.row, cursor.col, client.offset_encoding)
  if not rest then
    return
  end
  return {
    buf = cursor.buf,
    row = cursor.row,
    col = cursor.col,
    rest = rest,
    after = after,
    head = line:sub(1, cursor.col),
    tail = line:sub(cursor.col + 1),
    line_count = vim.api.nvim_buf_line_count(cursor.buf),
    client_id = client.id,
    command = item.command,
  }
end

--- Return the rest of `ghost` after the user typed a beginning of it. Return nil if the user typed something else, or
--- the whole suggestion.
---@param ghost lsp_harness.Ghost
---@return lsp_harness.Ghost?
function M.follow(ghost)
  local cursor = cursor_state.current()
  local new_lines = vim.api.nvim_buf_line_count(cursor.buf) - ghost.line_count
  local line = cursor_state.line(cursor.buf, cursor.row)
  if
    cursor.buf ~= ghost.buf
    or new_lines ~= cursor.row - ghost.row
    or new_lines < 0
    or (new_lines == 0 and cursor.col < ghost.col)
    or not vim.startswith(cursor_state.line(cursor.buf, ghost.row), ghost.head)
    or line:sub(cursor.col + 1) ~= ghost.tail
  then
    return
  end
  local typed_lines = vim.api.nvim_buf_get_text(cursor.buf, ghost.row, ghost.col, cursor.row, cursor.col, {})
  local typed = table.concat(typed_lines, '\n')
  local rest = ghost.rest:sub(#typed + 1)
  if not vim.startswith(ghost.rest, typed) or not text.can_show(rest, ghost.after) then
    return
  end
  return vim.tbl_extend('force', ghost, {
    row = cursor.row,
    col = cursor.col,
    rest = rest,
    head = line:sub(1, cursor.col),
    line_count = ghost.line_count + new_lines,
  })
end

--- Insert a part of `ghost` into the buffer and return the rest, or nil if nothing is left to show. The insertion
--- starts a new undo step, so that undo removes the accepted text but not the typed text.
---@param ghost lsp_harness.Ghost a suggestion at the cursor
---@param part fun(text: string): string returns a beginning of the text
---@return lsp_harness.Ghost? rest
function M.insert(ghost, part)
  local piece, includes_after = text.align_piece(ghost.rest, ghost.after, part(ghost.rest))
  local row, col = ghost.row, ghost.col
  local lines = vim.split(piece, '\n', { plain = true })
  vim.bo[ghost.buf].undolevels = vim.bo[ghost.buf].undolevels
  vim.api.nvim_buf_set_text(ghost.buf, row, col, row, includes_after and col + #ghost.after or col, lines)
  col = #lines == 1 and col + #piece or #lines[#lines]
  row = row + #lines - 1
  vim.api.nvim_win_set_cursor(0, { row + 1, col })

  local rest, after = ghost.rest:sub(#piece + 1), includes_after and '' or ghost.after
  if not text.can_show(rest, after) then
    return
  end
  local line = cursor_state.line(ghost.buf, row)
  return vim.tbl_extend('force', ghost, {
    row = row,
    col = col,
    rest = rest,
    after = after,
    head = line:sub(1, col),
    tail = line:sub(col + 1),
    line_count = ghost.line_count + #lines - 1,
  })
end

return M
