--- The part of a text that a command works on: the cursor, some lines, or the selection.

---@class lsp_harness.Span 0-based; columns are bytes; the end is exclusive
---@field buf integer
---@field row integer
---@field col integer
---@field end_row integer
---@field end_col integer

local M = {}

--- Return an empty span at the cursor.
---@return lsp_harness.Span
function M.cursor()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  return { buf = vim.api.nvim_get_current_buf(), row = row - 1, col = col, end_row = row - 1, end_col = col }
end

---@param buf integer
---@param row integer 0-based
---@return string
local function line_at(buf, row)
  return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
end

--- Return whole lines of the current buffer, without the line break after the last one.
---@param first integer 1-based, as in an Ex range
---@param last integer 1-based
---@return lsp_harness.Span
function M.lines(first, last)
  local buf = vim.api.nvim_get_current_buf()
  return { buf = buf, row = first - 1, col = 0, end_row = last - 1, end_col = #line_at(buf, last - 1) }
end

--- Return the current selection and end visual mode. A block selection counts as whole lines. Without a selection,
--- return the cursor.
---@return lsp_harness.Span
function M.selection()
  local mode = vim.api.nvim_get_mode().mode
  if not vim.list_contains({ 'v', 'V', '\22' }, mode) then
    return M.cursor()
  end
  local first, last = vim.fn.getpos('v'), vim.fn.getpos('.')
  if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
    first, last = last, first
  end
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  local span = M.lines(first[2], last[2])
  if mode == 'v' then
    local last_line = line_at(span.buf, span.end_row)
    span.col = first[3] - 1
    span.end_col = math.min(last[3], #last_line)
    if span.end_col > 0 then
      -- `getpos` gives the first byte of the last character; the span includes all of its bytes
      span.end_col = span.end_col + vim.str_utf_end(last_line, span.end_col)
    end
  end
  return span
end

--- Convert a span to an LSP range.
---@param span lsp_harness.Span
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Range
function M.to_lsp_range(span, encoding)
  local function position(row, col)
    return { line = row, character = vim.str_utfindex(line_at(span.buf, row), encoding, col, false) }
  end
  return { start = position(span.row, span.col), ['end'] = position(span.end_row, span.end_col) }
end

return M
