--- Tells the server where the cursor has come to rest. The server can then evaluate the surrounding text before the
--- user types the first key.

local config = require('lsp_harness.config')
local cursor_state = require('lsp_harness.cursor_state')
local server = require('lsp_harness.server')

local METHOD = 'lspHarness/didMoveCursor'
local GROUP = 'lsp_harness.cursor_notification'

local M = {}

---@type lsp_harness.CursorState? the state that was sent last
local last_sent
local timer = assert(vim.uv.new_timer())

--- Send the cursor position now, unless it was sent already, the user is typing, or ghost text is paused.
function M.send()
  local state = cursor_state.current()
  local client = server.client(state.buf)
  -- in insert mode the request for ghost text already carries the position
  if
    not client
    or cursor_state.in_insert_mode()
    or cursor_state.equal(last_sent, state)
    or require('lsp_harness').paused()
  then
    return
  end
  last_sent = state
  client:notify(METHOD, vim.lsp.util.make_position_params(0, client.offset_encoding))
end

local function schedule_send()
  timer:start(config.rest_ms, 0, vim.schedule_wrap(M.send))
end

--- Start sending the cursor positions in a buffer.
---@param buf integer
function M.attach(buf)
  -- a new server has received no position yet
  last_sent = nil
  local group = vim.api.nvim_create_augroup(GROUP, { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buf })
  vim.api.nvim_create_autocmd({ 'BufEnter', 'CursorMoved', 'InsertLeave' }, {
    group = group,
    buffer = buf,
    callback = schedule_send,
  })
  if vim.api.nvim_get_current_buf() == buf then
    schedule_send()
  end
end

---@param buf integer
function M.detach(buf)
  vim.api.nvim_clear_autocmds({ group = GROUP, buffer = buf })
end

return M
