--- Draws ghost text. The module keeps no state: the extmarks have fixed ids, so drawing again moves them without
--- flicker.

local text = require('lsp_harness.text')

local M = {}

local HIGHLIGHT = 'LspHarnessGhost'
local LEFT_ID, RIGHT_ID = 1, 2

M.namespace = vim.api.nvim_create_namespace('lsp_harness.ghost')

--- Define the highlight group. Ghost text has a group of its own so that users can change its colour alone.
function M.define_highlight()
  vim.api.nvim_set_hl(0, HIGHLIGHT, { default = true, link = 'NonText' })
end

---@param ghost lsp_harness.Ghost
function M.draw(ghost)
  local tabstop = vim.bo[ghost.buf].tabstop
  local left, right, below = text.split_around(ghost.rest, ghost.after)
  local column = vim.fn.strdisplaywidth(ghost.head)
  left = text.expand_tabs(left, column, tabstop)
  column = vim.fn.strdisplaywidth(left .. ghost.after, column) + column
  right = text.expand_tabs(right, column, tabstop)
  ---@type [string, string][][]
  local virtual_lines = {}
  for _, line in ipairs(below) do
    virtual_lines[#virtual_lines + 1] = { { text.expand_tabs(line, 0, tabstop), HIGHLIGHT } }
  end
  local function set_mark(id, col, virtual_text, lines_below)
    vim.api.nvim_buf_set_extmark(ghost.buf, M.namespace, ghost.row, col, {
      id = id,
      virt_text = virtual_text ~= '' and { { virtual_text, HIGHLIGHT } } or nil,
      virt_text_pos = 'inline',
      virt_lines = lines_below,
      hl_mode = 'combine',
      undo_restore = false,
    })
  end
  set_mark(LEFT_ID, ghost.col, left, #virtual_lines > 0 and virtual_lines or nil)
  if right ~= '' then
    set_mark(RIGHT_ID, ghost.col + #ghost.after, right)
  else
    vim.api.nvim_buf_del_extmark(ghost.buf, M.namespace, RIGHT_ID)
  end
end

---@param buf integer
function M.clear(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, M.namespace, 0, -1)
  end
end

return M
