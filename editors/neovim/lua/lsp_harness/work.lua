--- What is asked of the server that takes a while: it shows as progress, says how it ended, and can be cancelled.

local server = require('lsp_harness.server')
local tell = require('lsp_harness.tell')

---@class lsp_harness.Work
---@field title string
---@field message? string
---@field percentage? integer
---@field cancellable boolean

local M = {}

--- The server has given up because somebody wanted it to.
local CANCELLED = { [-32800] = true, [-32802] = true }

---@type table<integer, table<lsp.ProgressToken, lsp_harness.Work>> by client
local running = {}
---@type table<integer, table<integer, string>> what requests of ours are called, by client
local requests = {}
local count = 0

--- A request of the user's: an error is told, an answer goes to `done`.
---@param client vim.lsp.Client
---@param title string
---@param method string
---@param params table
---@param buf integer
---@param done fun(result: any)
function M.request(client, title, method, params, buf, done)
  local ours = vim.tbl_get(requests, client.id) or {}
  requests[client.id] = ours
  local id
  local sent, given = client:request(method, params, function(err, result)
    ours[id or -1] = nil
    if not err then
      done(result)
    elseif not CANCELLED[err.code] then
      tell(('%s: %s'):format(title, err.message), vim.log.levels.ERROR)
    end
  end, buf)
  if sent and given then
    id = given
    ours[id] = title
  end
end

--- A command of the server's, with a token of ours so that the progress begins with the request.
---@param client vim.lsp.Client
---@param title string
---@param name string
---@param arguments any[]
---@param done fun(result: any)
---@param buf? integer
function M.execute(client, title, name, arguments, done, buf)
  if not server.offers(client, name) then
    tell(('%s: this server has no %s; a newer one does'):format(title, name), vim.log.levels.WARN)
    return
  end
  count = count + 1
  local params = { command = name, arguments = arguments, workDoneToken = ('lsp_harness/%d'):format(count) }
  M.request(client, title, 'workspace/executeCommand', params, buf or vim.api.nvim_get_current_buf(), done)
end

--- Cancels everything that runs for the user, in every client.
---@return string[] titles
function M.cancel()
  local titles = {}
  for _, client in ipairs(server.all()) do
    for token, work in pairs(running[client.id] or {}) do
      if work.cancellable then
        client:notify('window/workDoneProgress/cancel', { token = token })
        titles[#titles + 1] = work.title
      end
    end
    for id, title in pairs(requests[client.id] or {}) do
      client:cancel_request(id)
      if not vim.list_contains(titles, title) then
        titles[#titles + 1] = title
      end
    end
    -- Neovim gives no word of an answer that only says it was cancelled
    requests[client.id] = nil
  end
  return titles
end

--- One `$/progress` of a client of ours.
---@param client_id integer
---@param params lsp.ProgressParams
function M.progress(client_id, params)
  local works = vim.tbl_get(running, client_id) or {}
  running[client_id] = works
  local value = params.value
  if value.kind == 'end' then
    works[params.token] = nil
    return
  end
  local before = works[params.token] or { title = value.title or '', cancellable = false }
  works[params.token] = vim.tbl_extend('force', before, {
    message = value.message or before.message,
    percentage = value.percentage or before.percentage,
    cancellable = value.cancellable == nil and before.cancellable or value.cancellable == true,
  })
end

--- What runs in a client now, if anything.
---@param client_id integer
---@return lsp_harness.Work?
function M.current(client_id)
  local _, work = next(running[client_id] or {})
  return work
end

---@param client_id integer
function M.forget(client_id)
  running[client_id] = nil
  requests[client_id] = nil
end

return M
