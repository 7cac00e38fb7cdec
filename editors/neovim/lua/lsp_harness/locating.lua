--- The code that a task is about, found by the server: in the quickfix list, and on the screen.

local server = require('lsp_harness.server')
local tell = require('lsp_harness.tell')
local work = require('lsp_harness.work')

local M = {}

---@class lsp_harness.Place
---@field uri string
---@field path string
---@field range lsp.Range
---@field symbol string
---@field signature string
---@field reasons string[]

---@param place lsp_harness.Place
---@return vim.quickfix.entry
local function entry(place)
  local what = place.signature ~= '' and place.signature or place.symbol
  return {
    filename = vim.uri_to_fname(place.uri),
    lnum = place.range.start.line + 1,
    end_lnum = place.range['end'].line + 1,
    col = 1,
    text = ('%s  [%s]'):format(what, table.concat(place.reasons, ', ')),
  }
end

---@param task string
---@param found { chosen: integer, candidates: lsp_harness.Place[] }
local function show(task, found)
  local items = vim.tbl_map(entry, found.candidates)
  vim.fn.setqflist({}, ' ', { title = 'lsp-harness: ' .. task, items = items })
  vim.cmd('cc ' .. found.chosen + 1)
  if #items > 1 then
    tell(('one of %d places; :copen shows the others'):format(#items))
  end
end

---@param client vim.lsp.Client
---@param task? string
local function ask(client, task)
  task = vim.trim(task or '')
  if task ~= '' then
    local buf = vim.api.nvim_get_current_buf()
    -- a buffer that the server does not have says at least in which folder the user is
    local here = server.client(buf) == client and vim.uri_from_bufnr(buf) or vim.uri_from_fname(vim.fn.getcwd())
    work.execute(client, 'Locate', server.LOCATE, { { task = task, uri = here } }, function(found)
      show(task, found)
    end)
  end
end

---@param task? string without one the user is asked
function M.locate(task)
  local client = server.needed(server.any)
  if not client then
    return
  end
  if task and task ~= '' then
    ask(client, task)
  else
    vim.ui.input({ prompt = 'Locate: ' }, function(words)
      ask(client, words)
    end)
  end
end

return M
