--- Ghost text for Neovim 0.11, which has none of its own: asks while the user types, cancels what a newer key makes
--- pointless, drops answers to a text that is no longer there. `native` is its counterpart for 0.12 and newer.
---
--- There is one user and one cursor, so there is one request under way and one suggestion on the screen at most.

local config = require('lsp_harness.config')
local server = require('lsp_harness.server')
local spot = require('lsp_harness.spot')
local suggestion = require('lsp_harness.suggestion')
local view = require('lsp_harness.view')

local METHOD = 'textDocument/inlineCompletion'
local AUTOMATIC = 2

---@class lsp_harness.Request
---@field client vim.lsp.Client
---@field at lsp_harness.Spot
---@field id? integer

local M = {}

---@type lsp_harness.Ghost?
local shown
---@type lsp_harness.Request?
local pending
---@type lsp_harness.Spot? where `moved` was last, since one key fires two events
local last
local paused = false
local timer = assert(vim.uv.new_timer())

local function hide()
  if shown then
    view.clear(shown.buf)
    shown = nil
  end
end

local function cancel()
  if pending and pending.id and not pending.client:is_stopped() then
    pending.client:cancel_request(pending.id)
  end
  pending = nil
end

--- Forgets everything: nothing shown, nothing asked, nothing about to be asked.
local function reset()
  timer:stop()
  cancel()
  hide()
  last = nil
end

---@param request lsp_harness.Request
---@param err? lsp.ResponseError
---@param result? lsp.InlineCompletionList|lsp.InlineCompletionItem[]
local function answered(request, err, result)
  if pending ~= request then
    return
  end
  pending = nil
  if err then
    -- the server has told the user what there is to tell, once; here it would be once a key
    vim.lsp.log.warn(server.NAME, METHOD, err)
  elseif result and spot.inserting() and spot.same(request.at, spot.here()) then
    for _, item in ipairs(result.items or result) do
      local ghost = suggestion.new(item, request.at, request.client)
      if ghost then
        shown = ghost
        view.draw(ghost)
        return
      end
    end
  end
end

local function ask()
  local at = spot.here()
  local client = server.client(at.buf)
  if paused or not client or not spot.inserting() or vim.fn.pumvisible() == 1 then
    return
  end
  if pending and spot.same(pending.at, at) then
    return
  end
  cancel()
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  ---@cast params lsp.InlineCompletionParams
  params.context = { triggerKind = AUTOMATIC }
  ---@type lsp_harness.Request
  local request = { client = client, at = at }
  pending = request
  local sent, id = client:request(METHOD, params, function(err, result)
    answered(request, err, result)
  end, at.buf)
  if sent then
    request.id = id
  else
    pending = nil
  end
end

local function ask_soon()
  if not paused then
    timer:start(config.debounce_ms, 0, vim.schedule_wrap(ask))
  end
end

--- Brings what is shown in line with the buffer: its rest when its own text was typed, nothing otherwise.
local function settle()
  local left = shown and suggestion.follow(shown)
  if left then
    shown = left
    view.draw(left)
  else
    hide()
  end
end

local function moved()
  local here = spot.here()
  if spot.same(last, here) then
    return
  end
  last = here
  settle()
  if not shown then
    cancel()
    ask_soon()
  end
end

--- Asks now if the user is typing: for a server that came up after the first key.
function M.refresh()
  last = nil
  if spot.inserting() then
    moved()
  end
end

---@param buf integer
function M.attach(buf)
  local group = vim.api.nvim_create_augroup('lsp_harness.ghost', { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buf })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  on({ 'TextChangedI', 'CursorMovedI' }, moved)
  on({ 'InsertEnter', 'CompleteDone' }, ask_soon)
  -- the menu's own preview and ghost text would stand in each other's way
  on({ 'TextChangedP', 'InsertLeave', 'BufLeave' }, reset)
  M.refresh()
end

---@param buf integer
function M.detach(buf)
  vim.api.nvim_clear_autocmds({ group = 'lsp_harness.ghost', buffer = buf })
  if vim.api.nvim_get_current_buf() == buf then
    reset()
  end
end

---@return boolean
function M.visible()
  if shown and spot.inserting() then
    -- keys that came in one burst have not fired their events yet
    settle()
    return shown ~= nil
  end
  return false
end

---@param part fun(text: string): string what to take of the text
---@return boolean
function M.accept(part)
  if not M.visible() then
    return false
  end
  local ghost = shown --[[@as lsp_harness.Ghost]]
  cancel()
  hide()
  local function put()
    shown = suggestion.put(ghost, part)
    if shown then
      view.draw(shown)
    else
      server.run(ghost.client_id, ghost.command, ghost.buf)
    end
  end
  local done, err = pcall(put)
  if not done then
    -- the text is locked while an <expr> mapping is evaluated
    if not tostring(err):find('E565', 1, true) then
      error(err, 0)
    end
    vim.schedule(put)
  end
  return true
end

---@return boolean
function M.dismiss()
  if not M.visible() then
    return false
  end
  hide()
  return true
end

function M.pause()
  paused = true
  reset()
end

function M.resume()
  paused = false
  M.refresh()
end

---@return boolean
function M.paused()
  return paused
end

return M
