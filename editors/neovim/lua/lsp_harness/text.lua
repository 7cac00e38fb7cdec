--- Pure functions on the text of a suggestion. They read no buffer and keep no state.

local M = {}

--- Return the whole text. The `part` function that accepts everything.
---@param text string
---@return string
function M.all(text)
  return text
end

--- Return the next word or run of punctuation, with the white space (line breaks too) before it.
---@param text string
---@return string
function M.word(text)
  -- \s and \S do not match a line break here
  local word = vim.fn.matchstr(text, [=[^[[:space:]]*\%(\k\+\|\%(\k\@![^[:space:]]\)\+\)]=])
  return word ~= '' and word or text
end

--- Return the text up to the end of its line. If the text starts with a line break, return the break and the next line.
---@param text string
---@return string
function M.line(text)
  local line_break = text:find('\n', 2, true)
  return line_break and text:sub(1, line_break - 1) or text
end

--- Find `after`, the text right of the cursor that a suggestion replaces, in the first line of the suggestion. The last
--- occurrence counts because a closing bracket is at the end. Return nil if there is none: the text on the screen then
--- cannot stay in place.
---@param rest string
---@param after string
---@return integer? first byte
---@return integer? last byte
local function find_after(rest, after)
  local line = rest:match('^[^\n]*')
  if after == '' then
    return #line + 1, #line
  end
  local reverse_start = line:reverse():find(after:reverse(), 1, true)
  if not reverse_start then
    return
  end
  local last = #line - reverse_start + 1
  return last - #after + 1, last
end

--- Return whether `rest` can be shown as an insertion around `after`, and inserts something.
---@param rest string the text from the cursor on
---@param after string the text right of the cursor that `rest` replaces
---@return boolean
function M.can_show(rest, after)
  return rest ~= '' and rest ~= after and find_after(rest, after) ~= nil
end

--- Split a suggestion into the texts to draw left of `after`, right of `after`, and on the lines below.
---@param rest string
---@param after string
---@return string left
---@return string right
---@return string[] below
function M.split_around(rest, after)
  local lines = vim.split(rest, '\n', { plain = true })
  local first, last = find_after(rest, after)
  return lines[1]:sub(1, first - 1), lines[1]:sub(last + 1), vim.list_slice(lines, 2)
end

--- Adjust a beginning of `rest` so that it does not end inside `after`.
---@param rest string
---@param after string
---@param piece string a beginning of `rest`
---@return string piece
---@return boolean includes_after whether the piece replaces `after`
function M.align_piece(rest, after, piece)
  local first, last = find_after(rest, after)
  if after == '' or #piece >= last then
    return piece, true
  elseif #piece < first then
    return piece, false
  elseif first > 1 then
    return rest:sub(1, first - 1), false
  end
  return rest:sub(1, last), true
end

--- Convert an LSP item to the text to insert at the cursor and the text right of the cursor that it replaces. Return
--- nil for an item that ghost text cannot show: one for another line, a snippet, or one that changes the text left of
--- the cursor.
---@param item lsp.InlineCompletionItem
---@param line string the line of the cursor
---@param row integer 0-based
---@param col integer 0-based, in bytes
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return string? rest
---@return string? after
function M.from_item(item, line, row, col, encoding)
  local text = item.insertText
  if type(text) ~= 'string' then
    return
  end
  text = text:gsub('\r\n?', '\n')
  local start_col, end_col = col, col
  local range = item.range
  if range then
    if range.start.line ~= row or range['end'].line ~= row then
      return
    end
    start_col = vim.str_byteindex(line, encoding, range.start.character, false)
    end_col = vim.str_byteindex(line, encoding, range['end'].character, false)
  end
  local typed = line:sub(start_col + 1, col)
  if start_col > col or end_col < col or not vim.startswith(text, typed) then
    return
  end
  local rest, after = text:sub(#typed + 1), line:sub(col + 1, end_col)
  if M.can_show(rest, after) then
    return rest, after
  end
end

--- Replace tabs by spaces, because virtual text has no tab stops.
---@param text string
---@param column integer display column where the text starts, 0-based
---@param tabstop integer
---@return string
function M.expand_tabs(text, column, tabstop)
  return (
    text:gsub('([^\t]*)\t', function(run)
      column = column + vim.api.nvim_strwidth(run)
      local width = tabstop - column % tabstop
      column = column + width
      return run .. (' '):rep(width)
    end)
  )
end

return M
