--- Ghost text that this plugin draws, for Neovim 0.11, which has none of its own. It requests suggestions while the
--- user types, cancels a request that a newer key makes useless, and keeps the rest of a suggestion on the screen while
--- the user types its beginning. `native_ghost_text` is the counterpart for Neovim 0.12 and newer.

local completion_request = require('lsp_harness.completion_request')
local config = require('lsp_harness.config')
local cursor_state = require('lsp_harness.cursor_state')
local notify = require('lsp_harness.notify')
local server = require('lsp_harness.server')
local suggestion = require('lsp_harness.suggestion')
local view = require('lsp_harness.view')

local M = {}

---@type lsp_harness.Ghost? the suggestion on the screen
local shown
---@type lsp_harness.Ghost[]? all alternatives as the server sent them; nil if only one was requested
local alternatives
---@type lsp_harness.CursorState? the state at the last event, because one key fires two events
local last_state
local is_paused = false
local timer = assert(vim.uv.new_timer())

local function hide()
  if shown then
    view.clear(shown.buf)
    shown = nil
  end
  alternatives = nil
end

---@param ghost lsp_harness.Ghost
local function show(ghost)
  shown = ghost
  view.draw(ghost)
end

--- Hide the suggestion, cancel the pending request and stop the timer.
local function reset()
  timer:stop()
  completion_request.cancel()
  hide()
  last_state = nil
end

local function request_automatically()
  if not is_paused and not shown then
    completion_request.send(completion_request.AUTOMATIC, function(ghosts)
      if ghosts[1] then
        show(ghosts[1])
      end
    end)
  end
end

local function schedule_request()
  if not is_paused then
    timer:start(config.debounce_ms, 0, vim.schedule_wrap(request_automatically))
  end
end

--- Update the suggestion to the buffer: show its rest if the user typed its beginning, or else hide it.
local function update_shown()
  local rest = shown and suggestion.follow(shown)
  if rest then
    show(rest)
  else
    hide()
  end
end

local function handle_cursor_event()
  local state = cursor_state.current()
  if cursor_state.equal(last_state, state) then
    return
  end
  last_state = state
  update_shown()
  if not shown then
    completion_request.cancel()
    schedule_request()
  end
end

--- Request a suggestion if the user is in insert mode. A server may have started after the first key.
function M.refresh()
  last_state = nil
  if cursor_state.in_insert_mode() then
    handle_cursor_event()
  end
end

---@param buf integer
function M.attach(buf)
  local group = vim.api.nvim_create_augroup('lsp_harness.ghost', { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buf })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  on({ 'TextChangedI', 'CursorMovedI' }, handle_cursor_event)
  on({ 'InsertEnter', 'CompleteDone' }, schedule_request)
  -- the completion menu has a preview of its own, which would overlap with ghost text
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
  if shown and cursor_state.in_insert_mode() then
    -- keys that arrive in one burst have not fired their events yet
    update_shown()
    return shown ~= nil
  end
  return false
end

--- Insert the part of the suggestion that `part` returns.
---@param part fun(text: string): string returns a beginning of the text
---@return boolean accepted false if no suggestion is shown
function M.accept(part)
  if not M.visible() then
    return false
  end
  local ghost = shown --[[@as lsp_harness.Ghost]]
  completion_request.cancel()
  hide()
  local function insert()
    local rest = suggestion.insert(ghost, part)
    if rest then
      show(rest)
    else
      server.run_command(ghost.client_id, ghost.command, ghost.buf)
    end
  end
  local succeeded, err = pcall(insert)
  if not succeeded then
    -- E565: Neovim locks the text while it evaluates an <expr> mapping
    if not tostring(err):find('E565', 1, true) then
      error(err, 0)
    end
    vim.schedule(insert)
  end
  return true
end

--- Hide the suggestion and tell the server that the user dismissed it.
---@return boolean dismissed false if no suggestion is shown
function M.dismiss()
  if not M.visible() then
    return false
  end
  local ghost = shown --[[@as lsp_harness.Ghost]]
  completion_request.cancel()
  hide()
  server.report_dismissal(ghost.client_id, ghost.command, ghost.buf)
  return true
end

--- Show another one of the alternatives. An alternative that does not begin with the text typed since then is skipped.
---@param step 1|-1
local function show_alternative(step)
  local candidates = vim.iter(alternatives):map(suggestion.follow):totable()
  -- the automatic suggestion may be none of the alternatives; then the first of them is the next
  local index_shown = step > 0 and 0 or 1
  for index, ghost in ipairs(candidates) do
    index_shown = shown and ghost.rest == shown.rest and index or index_shown
  end
  local alternative = candidates[(index_shown - 1 + step) % math.max(#candidates, 1) + 1]
  if alternative and not (shown and alternative.rest == shown.rest) then
    show(alternative)
  else
    notify('there is no other suggestion')
  end
end

--- Replace the suggestion by the next or the previous one. The first call requests all alternatives from the server.
---@param step 1|-1
---@return boolean shown false if no suggestion is shown
function M.cycle(step)
  if not M.visible() then
    return false
  end
  if alternatives then
    show_alternative(step)
  else
    last_state = cursor_state.current()
    completion_request.send(completion_request.INVOKED, function(ghosts)
      alternatives = ghosts
      show_alternative(step)
    end)
  end
  return true
end

--- Request suggestions because the user asks for them. This also works while ghost text is paused, and at places where
--- nothing is suggested automatically.
---@return boolean requested
function M.suggest()
  timer:stop()
  -- the event of the key that was typed just before is still to come
  last_state = cursor_state.current()
  return completion_request.send(completion_request.INVOKED, function(ghosts)
    hide()
    if ghosts[1] then
      -- the server sends the others when the user asks for them
      alternatives = #ghosts > 1 and ghosts or nil
      show(ghosts[1])
    else
      notify('there is nothing to suggest here')
    end
  end)
end

function M.pause()
  is_paused = true
  reset()
end

function M.resume()
  is_paused = false
  M.refresh()
end

---@return boolean
function M.paused()
  return is_paused
end

return M
