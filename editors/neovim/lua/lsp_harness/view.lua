--- Draws ghost text. It remembers nothing: the extmarks have fixed ids, so drawing again moves them without a flicker.

local text = require('lsp_harness.text')

local M = {}

local HIGHLIGHT = 'LspHarnessGhost'
local LEFT, RIGHT = 1, 2

M.namespace = vim.api.nvim_create_namespace('lsp_harness.ghost')

--- A group of its own, so that it can be given a colour without changing anything else.
function M.highlight()
  vim.api.nvim_set_hl(0, HIGHLIGHT, { default = true, link = 'NonText' })
end

---@param ghost lsp_harness.Ghost
function M.draw(ghost)
  local tabstop = vim.bo[ghost.buf].tabstop
  local left, right, below = text.pieces(ghost.rest, ghost.after)
  local column = vim.fn.strdisplaywidth(ghost.head)
  left = text.expand(left, column, tabstop)
  column = vim.fn.strdisplaywidth(left .. ghost.after, column) + column
  right = text.expand(right, column, tabstop)
  ---@type [string, string][][]
  local lines = {}
  for _, line in ipairs(below) do
    lines[#lines + 1] = { { text.expand(line, 0, tabstop), HIGHLIGHT } }
  end
  local function mark(id, col, virtual, virtual_lines)
    vim.api.nvim_buf_set_extmark(ghost.buf, M.namespace, ghost.row, col, {
      id = id,
      virt_text = virtual ~= '' and { { virtual, HIGHLIGHT } } or nil,
      virt_text_pos = 'inline',
      virt_lines = virtual_lines,
      hl_mode = 'combine',
      undo_restore = false,
    })
  end
  mark(LEFT, ghost.col, left, #lines > 0 and lines or nil)
  if right ~= '' then
    mark(RIGHT, ghost.col + #ghost.after, right)
  else
    vim.api.nvim_buf_del_extmark(ghost.buf, M.namespace, RIGHT)
  end
end

---@param buf integer
function M.clear(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, M.namespace, 0, -1)
  end
end

return M
