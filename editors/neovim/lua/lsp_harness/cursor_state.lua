--- The position of the cursor together with the version of its buffer. If two states differ, an answer that was
--- requested for the first is out of date for the second.

---@class lsp_harness.CursorState
---@field buf integer
---@field tick integer the `changedtick` of the buffer
---@field row integer 0-based
---@field col integer 0-based, in bytes

local M = {}

--- Return the state of the cursor in the current window.
---@return lsp_harness.CursorState
function M.current()
  local buf = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  return { buf = buf, tick = vim.api.nvim_buf_get_changedtick(buf), row = cursor[1] - 1, col = cursor[2] }
end

---@param first? lsp_harness.CursorState
---@param second lsp_harness.CursorState
---@return boolean
function M.equal(first, second)
  return vim.deep_equal(first, second)
end

--- Return whether the editor is in insert mode. Replace mode does not count because ghost text is text that would be
--- inserted.
---@return boolean
function M.in_insert_mode()
  return vim.startswith(vim.api.nvim_get_mode().mode, 'i')
end

--- Return one line of a buffer, or '' if the buffer has no such line.
---@param buf integer
---@param row integer 0-based
---@return string
function M.line(buf, row)
  return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
end

return M
