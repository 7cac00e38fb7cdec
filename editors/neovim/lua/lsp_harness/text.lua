--- What can be said about a suggestion from its text alone. Nothing here touches a buffer or keeps anything.

local M = {}

--- The whole text: the `part` that accepts everything.
---@param text string
---@return string
function M.all(text)
  return text
end

--- White space, line breaks included, and the word or the run of punctuation after it.
---@param text string
---@return string
function M.word(text)
  -- not \s and \S: a line break is neither of the two here
  local word = vim.fn.matchstr(text, [=[^[[:space:]]*\%(\k\+\|\%(\k\@![^[:space:]]\)\+\)]=])
  return word ~= '' and word or text
end

--- To the end of the line. A text that starts with a line break is at a line's end already, so it is the next one's.
---@param text string
---@return string
function M.line(text)
  local stop = text:find('\n', 2, true)
  return stop and text:sub(1, stop - 1) or text
end

--- Where `after`, the text right of the cursor that a suggestion replaces, stands in its first line: the last place,
--- since that is where a closing bracket goes. Nil when it isn't there and so can't be left standing on the screen.
---@param rest string
---@param after string
---@return integer? first byte
---@return integer? last byte
local function place(rest, after)
  local line = rest:match('^[^\n]*')
  if after == '' then
    return #line + 1, #line
  end
  local back = line:reverse():find(after:reverse(), 1, true)
  if not back then
    return
  end
  local last = #line - back + 1
  return last - #after + 1, last
end

--- Whether there is something to show that can be shown as an insertion around what is there.
---@param rest string
---@param after string
---@return boolean
function M.showable(rest, after)
  return rest ~= '' and rest ~= after and place(rest, after) ~= nil
end

--- The suggestion as it is drawn: left and right of `after`, and the lines below.
---@param rest string
---@param after string
---@return string left
---@return string right
---@return string[] below
function M.pieces(rest, after)
  local lines = vim.split(rest, '\n', { plain = true })
  local first, last = place(rest, after)
  return lines[1]:sub(1, first - 1), lines[1]:sub(last + 1), vim.list_slice(lines, 2)
end

--- `piece`, a beginning of `rest`, moved off the middle of `after`, and whether it takes `after` along.
---@param rest string
---@param after string
---@param piece string
---@return string piece
---@return boolean takes
function M.cut(rest, after, piece)
  local first, last = place(rest, after)
  if after == '' or #piece >= last then
    return piece, true
  elseif #piece < first then
    return piece, false
  elseif first > 1 then
    return rest:sub(1, first - 1), false
  end
  return rest:sub(1, last), true
end

--- A protocol item against the line it is for: the text to insert at the cursor and the text right of the cursor that
--- it replaces. Nil for what ghost text cannot show: another line, a snippet, or other text than was typed.
---@param item lsp.InlineCompletionItem
---@param line string
---@param row integer
---@param col integer byte
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return string? rest
---@return string? after
function M.fit(item, line, row, col, encoding)
  local text = item.insertText
  if type(text) ~= 'string' then
    return
  end
  text = text:gsub('\r\n?', '\n')
  local from, to = col, col
  local range = item.range
  if range then
    if range.start.line ~= row or range['end'].line ~= row then
      return
    end
    from = vim.str_byteindex(line, encoding, range.start.character, false)
    to = vim.str_byteindex(line, encoding, range['end'].character, false)
  end
  local typed = line:sub(from + 1, col)
  if from > col or to < col or not vim.startswith(text, typed) then
    return
  end
  local rest, after = text:sub(#typed + 1), line:sub(col + 1, to)
  if M.showable(rest, after) then
    return rest, after
  end
end

--- Tabs as the blanks they would be from display column `column` on: virtual text has no tab stops of its own.
---@param text string
---@param column integer
---@param tabstop integer
---@return string
function M.expand(text, column, tabstop)
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
