--- Ghost text by `vim.lsp.inline_completion`, which Neovim has from 0.12 on. It does the asking and the drawing; only
--- what it has no words for is written here: taking a part, dismissing, and whether anything is shown.
---
--- Enabling goes by buffer, so another server's inline completions are enabled with ours in the buffers both are in.

local server = require('lsp_harness.server')
local tell = require('lsp_harness.tell')
local text = require('lsp_harness.text')

local NAMESPACE = 'nvim.lsp.inline_completion'

local M = {}

local paused = false

--- It refreshes itself.
function M.refresh() end

---@param buf integer
function M.attach(buf)
  vim.lsp.inline_completion.enable(not paused, { bufnr = buf })
end

--- Neovim detaches its own.
---@param buf integer
---@diagnostic disable-next-line: unused-local
function M.detach(buf) end

---@return boolean
function M.visible()
  local namespace = vim.api.nvim_get_namespaces()[NAMESPACE]
  return namespace ~= nil and #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { limit = 1 }) > 0
end

--- Where an item starts, 0-based. The fields of a range changed their names while 0.12 was made.
---@param item vim.lsp.inline_completion.Item
---@param row integer
---@param col integer
---@return integer row
---@return integer col
local function start(item, row, col)
  local range = item.range
  if not range then
    return row, col
  end
  return range.start_row or range.start.row, range.start_col or range.start.col
end

--- Inserts the chosen part of what isn't typed yet. When that is all of it, the item is handed back, for Neovim to accept
--- as a whole, command included.
---@param item vim.lsp.inline_completion.Item
---@param part fun(text: string): string
---@return vim.lsp.inline_completion.Item?
local function take(item, part)
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  row = row - 1
  local from_row, from_col = start(item, row, col)
  if type(item.insert_text) ~= 'string' or from_row ~= row or from_col > col then
    return
  end
  local typed = vim.api.nvim_buf_get_text(0, row, from_col, row, col, {})[1]
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

---@param part fun(text: string): string
---@return boolean
function M.accept(part)
  if not M.visible() then
    return false
  end
  local options = {}
  if part ~= text.all then
    options.on_accept = function(item)
      return take(item, part)
    end
  end
  return vim.lsp.inline_completion.get(options) == true
end

--- Accepting into nothing takes it off the screen, and is the only public way to.
---@return boolean
function M.dismiss()
  local buf = vim.api.nvim_get_current_buf()
  local function nothing(item)
    local client = server.client(buf)
    if client and client.id == item.client_id then
      server.dismissed(client.id, item.command, buf)
    end
  end
  return M.visible() and vim.lsp.inline_completion.get({ on_accept = nothing }) == true
end

--- Among what Neovim has asked for, which is one suggestion unless another server has some as well.
---@param step 1|-1
---@return boolean
function M.cycle(step)
  if not M.visible() then
    return false
  end
  vim.lsp.inline_completion.select({ count = step })
  return true
end

--- Neovim alone decides when it asks.
---@return boolean
function M.suggest()
  tell('Neovim asks by itself here; setup({ native = false }) lets this plugin ask', vim.log.levels.WARN)
  return false
end

function M.pause()
  paused = true
  for _, buf in ipairs(server.buffers()) do
    M.attach(buf)
  end
end

function M.resume()
  paused = false
  for _, buf in ipairs(server.buffers()) do
    M.attach(buf)
  end
end

---@return boolean
function M.paused()
  return paused
end

return M
