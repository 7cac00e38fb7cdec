--- Requests ghost text from the server. At most one request is pending because there is one cursor. An answer for an
--- older text or another cursor position is dropped.

local cursor_state = require('lsp_harness.cursor_state')
local notify = require('lsp_harness.notify')
local server = require('lsp_harness.server')
local suggestion = require('lsp_harness.suggestion')

local METHOD = 'textDocument/inlineCompletion'

---@class lsp_harness.Request
---@field client vim.lsp.Client
---@field cursor lsp_harness.CursorState
---@field trigger integer
---@field id? integer

local M = {}

--- The values of InlineCompletionTriggerKind in LSP.
M.INVOKED = 1
M.AUTOMATIC = 2

---@type lsp_harness.Request?
local pending

--- Cancel the pending request.
---@return boolean requested whether the user had asked for it
function M.cancel()
  local cancelled = pending
  pending = nil
  if cancelled and cancelled.id and not cancelled.client:is_stopped() then
    cancelled.client:cancel_request(cancelled.id)
  end
  return cancelled ~= nil and cancelled.trigger == M.INVOKED
end

---@param request lsp_harness.Request
---@param err? lsp.ResponseError
---@param result? lsp.InlineCompletionList|lsp.InlineCompletionItem[]
---@param on_result fun(ghosts: lsp_harness.Ghost[])
local function handle_response(request, err, result, on_result)
  if pending ~= request then
    return
  end
  pending = nil
  if err then
    -- the server itself has shown the error once; while the user types it would appear with every key
    vim.lsp.log.warn(server.NAME, METHOD, err)
    if request.trigger == M.INVOKED then
      notify(err.message, vim.log.levels.WARN)
    end
  elseif cursor_state.in_insert_mode() and cursor_state.equal(request.cursor, cursor_state.current()) then
    local ghosts = {}
    for _, item in ipairs(result and (result.items or result) or {}) do
      ghosts[#ghosts + 1] = suggestion.new(item, request.cursor, request.client)
    end
    on_result(ghosts)
  end
end

--- Cancel the pending request and send a new one, if the buffer has a server and ghost text could be shown.
---@param trigger integer `M.INVOKED` or `M.AUTOMATIC`
---@param on_result fun(ghosts: lsp_harness.Ghost[]) called only if text and cursor are still the same
---@return boolean sent
function M.send(trigger, on_result)
  local cursor = cursor_state.current()
  local client = server.client(cursor.buf)
  if not client or not client.server_capabilities.inlineCompletionProvider then
    return false
  end
  if not cursor_state.in_insert_mode() or vim.fn.pumvisible() == 1 then
    return false
  end
  -- an automatic request must not replace a request that the user asked for
  if pending and pending.trigger <= trigger and cursor_state.equal(pending.cursor, cursor) then
    return true
  end
  M.cancel()
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  ---@cast params lsp.InlineCompletionParams
  params.context = { triggerKind = trigger }
  ---@type lsp_harness.Request
  local request = { client = client, cursor = cursor, trigger = trigger }
  pending = request
  local sent, id = client:request(METHOD, params, function(err, result)
    handle_response(request, err, result, on_result)
  end, cursor.buf)
  if sent then
    request.id = id
  else
    pending = nil
  end
  return sent
end

return M
