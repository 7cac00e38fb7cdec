--- What an instrument sees of ghost text, told by Neovim itself: requests, answers, what is drawn and when. It looks at
--- the screen's marks and at the protocol, never at what the plugin remembers.

local METHOD = 'textDocument/inlineCompletion'

local M = {}

local counts = { asked = 0, answered = 0, cancelled = 0, failed = 0, redraws = 0 }
local offers, drawn, figures, frames = {}, {}, {}, {}
local offered = 0
---@type table? the last of `frames`, also when that has been told
local frame
---@type { at: integer, key?: table, view?: table }? the redraw that may be the last one
local last
---@type { number: integer, at: integer, sent?: integer, answered?: integer, id?: string, drawn?: integer }?
local key
local number = 0

local function now()
  return vim.uv.hrtime()
end

local function inserting()
  return vim.startswith(vim.api.nvim_get_mode().mode, 'i')
end

--- The text on both sides of the cursor.
local function place()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local before = vim.list_slice(lines, 1, row - 1)
  before[#before + 1] = lines[row]:sub(1, col)
  local after = vim.list_slice(lines, row + 1)
  table.insert(after, 1, lines[row]:sub(col + 1))
  return { before = table.concat(before, '\n'), after = table.concat(after, '\n') }
end

--- The text of an item that puts it in at the cursor; anything else is not for this instrument.
local function inserted(item, position)
  local range = item.range
  assert(not range or vim.deep_equal({ range.start, range['end'] }, { position, position }), 'it replaces something')
  return item.insertText
end

local function watch(client)
  local request, cancel = client.request, client.cancel_request
  local pending = {}
  client.request = function(self, method, params, handler, buf)
    if method ~= METHOD then
      return request(self, method, params, handler, buf)
    end
    local offer, asker, given = place(), key, nil
    offer.texts = {}
    counts.asked = counts.asked + 1
    if asker then
      asker.sent = now()
    end
    local sent, id = request(self, method, params, function(err, result, ...)
      local came = now()
      pending[given or -1] = nil
      counts[err and 'failed' or 'answered'] = counts[err and 'failed' or 'answered'] + 1
      for _, item in ipairs(result and (result.items or result) or {}) do
        table.insert(offer.texts, inserted(item, params.position))
        offer.id = offer.id or item.command.arguments[2]
      end
      if asker then
        asker.answered, asker.id = came, offer.id
      end
      offered = offered + 1
      offer.number = offered
      table.insert(offers, offer)
      return handler(err, result, ...)
    end, buf)
    given = id
    pending[id or -1] = sent or nil
    return sent, id
  end
  client.cancel_request = function(self, id)
    if pending[id] then
      pending[id] = nil
      counts.cancelled = counts.cancelled + 1
    end
    return cancel(self, id)
  end
end

local function marks()
  local space = require('lsp_harness.view').namespace
  local function joined(chunks)
    return vim.iter(chunks):fold('', function(text, chunk)
      return text .. chunk[1]
    end)
  end
  return vim
    .iter(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true }))
    :map(function(mark)
      local lines = { joined(mark[4].virt_text or {}) }
      vim.list_extend(lines, vim.tbl_map(joined, mark[4].virt_lines or {}))
      return { row = mark[2], col = mark[3], text = table.concat(lines, '\n') }
    end)
    :totable()
end

--- All that is there, and how many answers there were by now.
local function view()
  local seen = place()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  seen.row, seen.col, seen.inserting, seen.marks, seen.offered = row - 1, col, inserting(), marks(), offered
  return seen
end

--- What the user sees since the last redraw. With syntax highlighting Neovim redraws after a key before the plugin hears
--- of it (CursorMovedI), and once more afterwards, and only then sends what it drew to the screen. So it is the last redraw
--- before other events have their turn that counts.
local function seen()
  local it = last
  last = nil
  if not it or not it.view then
    frame = nil
    return
  end
  local view, mark = it.view, it.view.marks[1]
  counts.redraws = counts.redraws + 1
  if not vim.deep_equal(view, frame) then
    frame = view
    table.insert(frames, view)
  end
  if it.key and not it.key.drawn and view.inserting and mark.row == view.row and mark.col == view.col then
    it.key.drawn = it.at
    drawn[#drawn + 1] = it.key
  end
end

local function redrawn()
  if not last then
    vim.schedule(seen)
  end
  last = { at = now(), key = key, view = #marks() > 0 and view() or nil }
end

function M.start()
  vim.api.nvim_create_autocmd('LspAttach', {
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == 'lsp_harness' and not client.watched then
        client.watched = true
        watch(client)
      end
    end,
  })
  vim.api.nvim_create_autocmd('User', {
    pattern = 'LspHarnessStatus',
    callback = function()
      local status = M.status()
      local last = status and status.last
      if last and last ~= vim.NIL and not vim.deep_equal(last, M.last) then
        M.last = last
        figures[#figures + 1] = last
      end
    end,
  })
  vim.on_key(function(_, typed)
    if typed ~= '' then
      number = number + 1
      key = { number = number, at = now() }
    end
  end)
  vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('watch'), { on_end = redrawn })
end

function M.status()
  local client = vim.lsp.get_clients({ name = 'lsp_harness' })[1]
  return client and require('lsp_harness.status').get(client.id)
end

--- Lets text be typed as it is: nothing is indented, wrapped or continued by the editor.
function M.plain()
  vim.b.did_indent = 1
  for name, value in pairs({ indentexpr = '', cinkeys = '', indentkeys = '', formatoptions = '', textwidth = 0 }) do
    vim.bo[name] = value
  end
  vim.bo.autoindent, vim.bo.smartindent, vim.bo.cindent, vim.bo.lisp = false, false, false, false
  -- the cursor can be put behind the last character before anything is inserted
  vim.wo.virtualedit = 'onemore'
  vim.bo.expandtab, vim.bo.softtabstop, vim.bo.undofile = false, 0, false
end

--- Whether nothing more will come of the last key by itself: something is shown, or its question has been answered.
function M.settled()
  return #marks() > 0 or (key and key.answered) ~= nil
end

--- What there is now, and what came since this was asked last. `frames` are the different states in which ghost text was
--- drawn, also those that lasted for one redraw only.
function M.look()
  local here = view()
  here.counts, here.offers, here.drawn, here.figures, here.frames = counts, offers, drawn, figures, frames
  -- kept until it is asked about, so that an answer that nothing came of is seen
  here.key = key
  local status = M.status()
  here.statistics, here.engine = status and status.statistics, status and status.engine
  offers, drawn, figures, frames = {}, {}, {}, {}
  return here
end

return M
