--- Finds the code that a task is about. The server searches; the results go into the quickfix list and the best one is
--- shown.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')

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
local function to_quickfix_entry(place)
  local name = place.signature ~= '' and place.signature or place.symbol
  return {
    filename = vim.uri_to_fname(place.uri),
    lnum = place.range.start.line + 1,
    end_lnum = place.range['end'].line + 1,
    col = 1,
    text = ('%s  [%s]'):format(name, table.concat(place.reasons, ', ')),
  }
end

---@param task string
---@param result { chosen: integer, candidates: lsp_harness.Place[] } `chosen` is a 0-based index
local function show_result(task, result)
  local entries = vim.tbl_map(to_quickfix_entry, result.candidates)
  vim.fn.setqflist({}, ' ', { title = 'lsp-harness: ' .. task, items = entries })
  vim.cmd('cc ' .. result.chosen + 1)
  if #entries > 1 then
    notify(('one of %d places; :copen shows the others'):format(#entries))
  end
end

--- Send a task to the server. An empty task is not sent.
---@param client vim.lsp.Client
---@param task? string
local function send_task(client, task)
  task = vim.trim(task or '')
  if task ~= '' then
    local buf = vim.api.nvim_get_current_buf()
    -- for a buffer that the server does not have, the working directory at least names the folder
    local uri = server.client(buf) == client and vim.uri_from_bufnr(buf) or vim.uri_from_fname(vim.fn.getcwd())
    requests.execute(client, 'Locate', commands.locate, { { task = task, uri = uri } }, function(result)
      show_result(task, result)
    end)
  end
end

--- Find the code for a task.
---@param task? string the user is prompted if there is none
function M.locate(task)
  local client = server.require_client(server.any_client)
  if not client then
    return
  end
  if task and task ~= '' then
    send_task(client, task)
  else
    vim.ui.input({ prompt = 'Locate: ' }, function(input)
      send_task(client, input)
    end)
  end
end

return M
