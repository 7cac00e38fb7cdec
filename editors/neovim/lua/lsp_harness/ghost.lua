--- Ghost text for Neovim 0.11, which has none of its own: asks while the user types, cancels what a newer key makes
--- pointless, keeps what is typed along. `native` is its counterpart for 0.12 and newer.

local asking = require('lsp_harness.asking')
local config = require('lsp_harness.config')
local server = require('lsp_harness.server')
local spot = require('lsp_harness.spot')
local suggestion = require('lsp_harness.suggestion')
local tell = require('lsp_harness.tell')
local view = require('lsp_harness.view')

local M = {}

---@type lsp_harness.Ghost?
local shown
---@type lsp_harness.Ghost[]? all there is to choose from, as it came; nil when only one was asked for
local choices
---@type lsp_harness.Spot? where `moved` was last, since one key fires two events
local last
local paused = false
local timer = assert(vim.uv.new_timer())

local function hide()
  if shown then
    view.clear(shown.buf)
    shown = nil
  end
  choices = nil
end

---@param ghost lsp_harness.Ghost
local function show(ghost)
  shown = ghost
  view.draw(ghost)
end

--- Forgets everything: nothing shown, nothing asked, nothing about to be asked.
local function reset()
  timer:stop()
  asking.cancel()
  hide()
  last = nil
end

local function ask()
  if not paused and not shown then
    asking.ask(asking.AUTOMATIC, function(ghosts)
      if ghosts[1] then
        show(ghosts[1])
      end
    end)
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
    show(left)
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
    asking.cancel()
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
  asking.cancel()
  hide()
  local function put()
    local left = suggestion.put(ghost, part)
    if left then
      show(left)
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
  local ghost = shown --[[@as lsp_harness.Ghost]]
  asking.cancel()
  hide()
  server.dismissed(ghost.client_id, ghost.command, ghost.buf)
  return true
end

--- Shows another of `choices`: what was typed along since they came leaves out those it does not begin.
---@param step 1|-1
local function turn(step)
  local still = vim.iter(choices):map(suggestion.follow):totable()
  -- what is shown may have come by itself and be none of these: then the first of them is next
  local at = step > 0 and 0 or 1
  for index, ghost in ipairs(still) do
    at = shown and ghost.rest == shown.rest and index or at
  end
  local other = still[(at - 1 + step) % math.max(#still, 1) + 1]
  if other and not (shown and other.rest == shown.rest) then
    show(other)
  else
    tell('there is no other suggestion')
  end
end

--- Another suggestion instead of the one that is shown. The first time the server is asked for all it has.
---@param step 1|-1
---@return boolean
function M.cycle(step)
  if not M.visible() then
    return false
  end
  if choices then
    turn(step)
  else
    last = spot.here()
    asking.ask(asking.INVOKED, function(ghosts)
      choices = ghosts
      turn(step)
    end)
  end
  return true
end

--- Asks because the user wants it: paused or not, quiet place or not.
---@return boolean asked
function M.suggest()
  timer:stop()
  -- the event of a key that was typed just before is still to come
  last = spot.here()
  return asking.ask(asking.INVOKED, function(ghosts)
    hide()
    if ghosts[1] then
      choices = ghosts
      show(ghosts[1])
    else
      tell('there is nothing to suggest here')
    end
  end)
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
