--- Where the user is: one state of one buffer, and the cursor in it. Two spots that differ mean a stale answer.

---@class lsp_harness.Spot
---@field buf integer
---@field tick integer
---@field row integer 0-based
---@field col integer 0-based, bytes

local M = {}

---@return lsp_harness.Spot
function M.here()
  local buf = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  return { buf = buf, tick = vim.api.nvim_buf_get_changedtick(buf), row = cursor[1] - 1, col = cursor[2] }
end

---@param one? lsp_harness.Spot
---@param other lsp_harness.Spot
---@return boolean
function M.same(one, other)
  return vim.deep_equal(one, other)
end

--- Replace mode does not count: ghost text is text that would be inserted.
---@return boolean
function M.inserting()
  return vim.startswith(vim.api.nvim_get_mode().mode, 'i')
end

---@param buf integer
---@param row integer
---@return string
function M.line(buf, row)
  return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
end

return M
