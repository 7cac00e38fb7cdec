--- Asks the server for ghost text. There is one user and one cursor, so there is one request under way at most, and an
--- answer to a text or a place that is no longer there is nobody's.

local server = require('lsp_harness.server')
local spot = require('lsp_harness.spot')
local suggestion = require('lsp_harness.suggestion')
local tell = require('lsp_harness.tell')

local METHOD = 'textDocument/inlineCompletion'

---@class lsp_harness.Request
---@field client vim.lsp.Client
---@field at lsp_harness.Spot
---@field kind integer
---@field id? integer

local M = {}

--- Why is asked, in the protocol's numbers.
M.INVOKED = 1
M.AUTOMATIC = 2

---@type lsp_harness.Request?
local pending

function M.cancel()
  if pending and pending.id and not pending.client:is_stopped() then
    pending.client:cancel_request(pending.id)
  end
  pending = nil
end

---@param request lsp_harness.Request
---@param err? lsp.ResponseError
---@param result? lsp.InlineCompletionList|lsp.InlineCompletionItem[]
---@param found fun(ghosts: lsp_harness.Ghost[])
local function answered(request, err, result, found)
  if pending ~= request then
    return
  end
  pending = nil
  if err then
    -- for who types the server has said it already, once; here it would be once a key
    vim.lsp.log.warn(server.NAME, METHOD, err)
    if request.kind == M.INVOKED then
      tell(err.message, vim.log.levels.WARN)
    end
  elseif spot.inserting() and spot.same(request.at, spot.here()) then
    local ghosts = {}
    for _, item in ipairs(result and (result.items or result) or {}) do
      ghosts[#ghosts + 1] = suggestion.new(item, request.at, request.client)
    end
    found(ghosts)
  end
end

--- Cancels what is under way and asks, where there is somebody to ask and the user could see the answer.
---@param kind integer
---@param found fun(ghosts: lsp_harness.Ghost[]) called while the user is still there
---@return boolean asked
function M.ask(kind, found)
  local at = spot.here()
  local client = server.client(at.buf)
  if not client or not client.server_capabilities.inlineCompletionProvider then
    return false
  end
  if not spot.inserting() or vim.fn.pumvisible() == 1 then
    return false
  end
  -- what comes by itself does not take the place of what the user asked for
  if pending and pending.kind <= kind and spot.same(pending.at, at) then
    return true
  end
  M.cancel()
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  ---@cast params lsp.InlineCompletionParams
  params.context = { triggerKind = kind }
  ---@type lsp_harness.Request
  local request = { client = client, at = at, kind = kind }
  pending = request
  local sent, id = client:request(METHOD, params, function(err, result)
    answered(request, err, result, found)
  end, at.buf)
  if sent then
    request.id = id
  else
    pending = nil
  end
  return sent
end

return M
