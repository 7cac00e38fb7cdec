--- Tells the server where the cursor has come to rest, so that it can read what is around it before the first key.

local config = require('lsp_harness.config')
local server = require('lsp_harness.server')
local spot = require('lsp_harness.spot')

local METHOD = 'lspHarness/didMoveCursor'
local GROUP = 'lsp_harness.rest'

local M = {}

---@type lsp_harness.Spot?
local told
local timer = assert(vim.uv.new_timer())

--- Tells now where the cursor is, unless that is known or nobody wants to know.
function M.tell()
  local at = spot.here()
  local client = server.client(at.buf)
  -- who types asks for ghost text, which says as much
  if not client or spot.inserting() or spot.same(told, at) or require('lsp_harness').paused() then
    return
  end
  told = at
  client:notify(METHOD, vim.lsp.util.make_position_params(0, client.offset_encoding))
end

local function tell_soon()
  timer:start(config.rest_ms, 0, vim.schedule_wrap(M.tell))
end

---@param buf integer
function M.attach(buf)
  -- another server knows of no place yet
  told = nil
  local group = vim.api.nvim_create_augroup(GROUP, { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buf })
  vim.api.nvim_create_autocmd({ 'BufEnter', 'CursorMoved', 'InsertLeave' }, {
    group = group,
    buffer = buf,
    callback = tell_soon,
  })
  if vim.api.nvim_get_current_buf() == buf then
    tell_soon()
  end
end

---@param buf integer
function M.detach(buf)
  vim.api.nvim_clear_autocmds({ group = GROUP, buffer = buf })
end

return M
