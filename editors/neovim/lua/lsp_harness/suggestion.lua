--- A suggestion that is on the screen: how it shrinks while it is typed, and how a part of it gets into the buffer.

local spot = require('lsp_harness.spot')
local text = require('lsp_harness.text')

---@class lsp_harness.Ghost
---@field buf integer
---@field row integer where it starts, which is where the cursor is
---@field col integer
---@field rest string the text to insert there
---@field after string what it replaces right of the cursor
---@field head string the line left of the cursor
---@field tail string the line right of the cursor
---@field lines integer how many the buffer has
---@field client_id integer
---@field command? lsp.Command run when all of it has been accepted

local M = {}

---@param item lsp.InlineCompletionItem
---@param at lsp_harness.Spot
---@param client vim.lsp.Client
---@return lsp_harness.Ghost?
function M.new(item, at, client)
  local line = spot.line(at.buf, at.row)
  local rest, after = text.fit(item, line, at.row, at.col, client.offset_encoding)
  if not rest then
    return
  end
  return {
    buf = at.buf,
    row = at.row,
    col = at.col,
    rest = rest,
    after = after,
    head = line:sub(1, at.col),
    tail = line:sub(at.col + 1),
    lines = vim.api.nvim_buf_line_count(at.buf),
    client_id = client.id,
    command = item.command,
  }
end

--- What is left of `ghost` at the cursor. Nil when something else than its own text has been typed since, or all of it.
---@param ghost lsp_harness.Ghost
---@return lsp_harness.Ghost?
function M.follow(ghost)
  local here = spot.here()
  local grown = vim.api.nvim_buf_line_count(here.buf) - ghost.lines
  local line = spot.line(here.buf, here.row)
  if
    here.buf ~= ghost.buf
    or grown ~= here.row - ghost.row
    or grown < 0
    or (grown == 0 and here.col < ghost.col)
    or not vim.startswith(spot.line(here.buf, ghost.row), ghost.head)
    or line:sub(here.col + 1) ~= ghost.tail
  then
    return
  end
  local typed = table.concat(vim.api.nvim_buf_get_text(here.buf, ghost.row, ghost.col, here.row, here.col, {}), '\n')
  local rest = ghost.rest:sub(#typed + 1)
  if not vim.startswith(ghost.rest, typed) or not text.showable(rest, ghost.after) then
    return
  end
  return vim.tbl_extend('force', ghost, {
    row = here.row,
    col = here.col,
    rest = rest,
    head = line:sub(1, here.col),
    lines = ghost.lines + grown,
  })
end

--- Puts the part of `ghost` that `part` chooses into the buffer, and says what is left. Starts a new undo step, so that
--- undo takes back the accepted text and leaves the typed one.
---@param ghost lsp_harness.Ghost at the cursor
---@param part fun(text: string): string
---@return lsp_harness.Ghost? left
function M.put(ghost, part)
  local piece, takes = text.cut(ghost.rest, ghost.after, part(ghost.rest))
  local row, col = ghost.row, ghost.col
  local lines = vim.split(piece, '\n', { plain = true })
  vim.bo[ghost.buf].undolevels = vim.bo[ghost.buf].undolevels
  vim.api.nvim_buf_set_text(ghost.buf, row, col, row, takes and col + #ghost.after or col, lines)
  col = #lines == 1 and col + #piece or #lines[#lines]
  row = row + #lines - 1
  vim.api.nvim_win_set_cursor(0, { row + 1, col })

  local rest, after = ghost.rest:sub(#piece + 1), takes and '' or ghost.after
  if not text.showable(rest, after) then
    return
  end
  local line = spot.line(ghost.buf, row)
  return vim.tbl_extend('force', ghost, {
    row = row,
    col = col,
    rest = rest,
    after = after,
    head = line:sub(1, col),
    tail = line:sub(col + 1),
    lines = ghost.lines + #lines - 1,
  })
end

return M
