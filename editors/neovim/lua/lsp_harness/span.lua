--- What of a text the user means: the cursor, some lines, a selection.

---@class lsp_harness.Span 0-based; columns are bytes, the end is behind the last
---@field buf integer
---@field row integer
---@field col integer
---@field end_row integer
---@field end_col integer

local M = {}

---@return lsp_harness.Span
function M.cursor()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  return { buf = vim.api.nvim_get_current_buf(), row = row - 1, col = col, end_row = row - 1, end_col = col }
end

---@param buf integer
---@param row integer 0-based
---@return string
local function line(buf, row)
  return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
end

--- Whole lines, without the line break after the last.
---@param first integer 1-based, as in an Ex range
---@param last integer
---@return lsp_harness.Span
function M.lines(first, last)
  local buf = vim.api.nvim_get_current_buf()
  return { buf = buf, row = first - 1, col = 0, end_row = last - 1, end_col = #line(buf, last - 1) }
end

--- What is selected now, and ends the selection; of a block its lines. Without one the cursor.
---@return lsp_harness.Span
function M.selection()
  local mode = vim.api.nvim_get_mode().mode
  if not vim.list_contains({ 'v', 'V', '\22' }, mode) then
    return M.cursor()
  end
  local from, to = vim.fn.getpos('v'), vim.fn.getpos('.')
  if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  local span = M.lines(from[2], to[2])
  if mode == 'v' then
    local last = line(span.buf, span.end_row)
    span.col = from[3] - 1
    span.end_col = math.min(to[3], #last)
    if span.end_col > 0 then
      -- the whole of the last character
      span.end_col = span.end_col + vim.str_utf_end(last, span.end_col)
    end
  end
  return span
end

---@param span lsp_harness.Span
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Range
function M.range(span, encoding)
  local function position(row, col)
    return { line = row, character = vim.str_utfindex(line(span.buf, row), encoding, col, false) }
  end
  return { start = position(span.row, span.col), ['end'] = position(span.end_row, span.end_col) }
end

return M
