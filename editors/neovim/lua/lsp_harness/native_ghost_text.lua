--- Ghost text by `vim.lsp.inline_completion`, which Neovim 0.12 and newer have. Neovim requests and draws the
--- suggestions. This module adds what Neovim has no function for: accept a part, dismiss, and tell whether ghost text
--- is visible.
---
--- Neovim enables inline completion per buffer, so the suggestions of another server in the same buffer are enabled
--- too.

local notify = require('lsp_harness.notify')
local server = require('lsp_harness.server')
local text = require('lsp_harness.text')

local NAMESPACE = 'nvim.lsp.inline_completion'

local M = {}

local is_paused = false

--- Do nothing: Neovim refreshes its ghost text itself.
function M.refresh() end

---@param buf integer
function M.attach(buf)
  vim.lsp.inline_completion.enable(not is_paused, { bufnr = buf })
end

--- Do nothing: Neovim detaches its ghost text itself.
---@param buf integer
---@diagnostic disable-next-line: unused-local
function M.detach(buf) end

---@return boolean
function M.visible()
  local namespace = vim.api.nvim_get_namespaces()[NAMESPACE]
  return namespace ~= nil and #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { limit = 1 }) > 0
end

--- Return the position where an item starts, or the cursor if the item has no range. The fields of a range were renamed
--- during the development of 0.12.
---@param item vim.lsp.inline_completion.Item
---@param row integer the cursor's row, 0-based
---@param col integer the cursor's column, 0-based
---@return integer row
---@return integer col
local function item_start(item, row, col)
  local range = item.range
  if not range then
    return row, col
  end
  return range.start_row or range.start.row, range.start_col or range.start.col
end

--- Insert a part of the text that is not typed yet. If the part is the whole text, return the item instead, so that
--- Neovim accepts it and runs its command.
---@param item vim.lsp.inline_completion.Item
---@param part fun(text: string): string
---@return vim.lsp.inline_completion.Item?
local function insert_part(item, part)
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  row = row - 1
  local start_row, start_col = item_start(item, row, col)
  if type(item.insert_text) ~= 'string' or start_row ~= row or start_col > col then
    return
  end
  local typed = vim.api.nvim_buf_get_text(0, row, start_col, row, col, {})[1]
  if not vim.startswith(item.insert_text, typed) then
    return
  end
  local rest = item.insert_text:sub(#typed + 1)
  local piece = part(rest)
  if piece == rest then
    return item
  end
  local lines = vim.split(piece, '\n', { plain = true })
  vim.api.nvim_buf_set_text(0, row, col, row, col, lines)
  vim.api.nvim_win_set_cursor(0, { row + #lines, #lines == 1 and col + #piece or #lines[#lines] })
end

--- Insert the part of the suggestion that `part` returns.
---@param part fun(text: string): string returns a beginning of the text
---@return boolean accepted false if no suggestion is shown
function M.accept(part)
  if not M.visible() then
    return false
  end
  local options = {}
  if part ~= text.all then
    options.on_accept = function(item)
      return insert_part(item, part)
    end
  end
  return vim.lsp.inline_completion.get(options) == true
end

--- Hide the suggestion and tell the server. The only public way to hide it is to accept it with a callback that inserts
--- nothing.
---@return boolean dismissed false if no suggestion is shown
function M.dismiss()
  local buf = vim.api.nvim_get_current_buf()
  local function insert_nothing(item)
    local client = server.client(buf)
    if client and client.id == item.client_id then
      server.report_dismissal(client.id, item.command, buf)
    end
  end
  return M.visible() and vim.lsp.inline_completion.get({ on_accept = insert_nothing }) == true
end

--- Show another one of the suggestions that Neovim has requested. There is only one unless another server has some too.
---@param step 1|-1
---@return boolean shown false if no suggestion is shown
function M.cycle(step)
  if not M.visible() then
    return false
  end
  vim.lsp.inline_completion.select({ count = step })
  return true
end

--- Warn the user: Neovim alone decides when it requests suggestions.
---@return boolean
function M.suggest()
  notify(
    'Neovim decides when it requests ghost text; use setup({ native = false }) to request it yourself',
    vim.log.levels.WARN
  )
  return false
end

function M.pause()
  is_paused = true
  for _, buf in ipairs(server.buffers()) do
    M.attach(buf)
  end
end

function M.resume()
  is_paused = false
  for _, buf in ipairs(server.buffers()) do
    M.attach(buf)
  end
end

---@return boolean
function M.paused()
  return is_paused
end

return M
