--- Requests to the server that may take long. They show progress, report errors to the user, and can be cancelled.

local notify = require('lsp_harness.notify')
local server = require('lsp_harness.server')

---@class lsp_harness.Progress
---@field title string
---@field message? string
---@field percentage? integer
---@field cancellable boolean

local M = {}

--- The error codes RequestCancelled and ServerCancelled of LSP.
local CANCELLED = { [-32800] = true, [-32802] = true }

---@type table<integer, table<lsp.ProgressToken, lsp_harness.Progress>> by client id
local progress_by_client = {}
---@type table<integer, table<integer, string>> titles of pending requests, by client id and request id
local titles_by_client = {}
local token_count = 0

--- Send a request that the user asked for. `on_result` gets the result; an error is shown to the user.
---@param client vim.lsp.Client
---@param title string names the request in messages
---@param method string
---@param params table
---@param buf integer
---@param on_result fun(result: any)
function M.send(client, title, method, params, buf, on_result)
  local titles = vim.tbl_get(titles_by_client, client.id) or {}
  titles_by_client[client.id] = titles
  local id
  local sent, request_id = client:request(method, params, function(err, result)
    titles[id or -1] = nil
    if not err then
      on_result(result)
    elseif not CANCELLED[err.code] then
      notify(('%s: %s'):format(title, err.message), vim.log.levels.ERROR)
    end
  end, buf)
  if sent and request_id then
    id = request_id
    titles[id] = title
  end
end

--- Execute a command of the server. The request carries a progress token, so that its progress begins with the request.
---@param client vim.lsp.Client
---@param title string names the command in messages
---@param command string
---@param arguments any[]
---@param on_result fun(result: any)
---@param buf? integer the current buffer by default
function M.execute(client, title, command, arguments, on_result, buf)
  if not server.provides(client, command) then
    notify(('%s: this server has no %s; update lsp-harness'):format(title, command), vim.log.levels.WARN)
    return
  end
  token_count = token_count + 1
  local params = {
    command = command,
    arguments = arguments,
    workDoneToken = ('lsp_harness/%d'):format(token_count),
  }
  M.send(client, title, 'workspace/executeCommand', params, buf or vim.api.nvim_get_current_buf(), on_result)
end

--- Cancel every pending request and every progress that can be cancelled, in all clients.
---@return string[] titles of the cancelled work
function M.cancel_all()
  local cancelled = {}
  for _, client in ipairs(server.clients()) do
    for token, progress in pairs(progress_by_client[client.id] or {}) do
      if progress.cancellable then
        client:notify('window/workDoneProgress/cancel', { token = token })
        cancelled[#cancelled + 1] = progress.title
      end
    end
    for id, title in pairs(titles_by_client[client.id] or {}) do
      client:cancel_request(id)
      if not vim.list_contains(cancelled, title) then
        cancelled[#cancelled + 1] = title
      end
    end
    -- Neovim does not call the handler of a request that was cancelled
    titles_by_client[client.id] = nil
  end
  return cancelled
end

--- Record one `$/progress` notification.
---@param client_id integer
---@param params lsp.ProgressParams
function M.record_progress(client_id, params)
  local by_token = vim.tbl_get(progress_by_client, client_id) or {}
  progress_by_client[client_id] = by_token
  local value = params.value
  if value.kind == 'end' then
    by_token[params.token] = nil
    return
  end
  local previous = by_token[params.token] or { title = value.title or '', cancellable = false }
  by_token[params.token] = vim.tbl_extend('force', previous, {
    message = value.message or previous.message,
    percentage = value.percentage or previous.percentage,
    cancellable = value.cancellable == nil and previous.cancellable or value.cancellable == true,
  })
end

--- Return the progress of something that runs in a client, or nil if nothing runs.
---@param client_id integer
---@return lsp_harness.Progress?
function M.current_progress(client_id)
  local _, progress = next(progress_by_client[client_id] or {})
  return progress
end

--- Forget the requests and the progress of a client that has ended.
---@param client_id integer
function M.forget(client_id)
  progress_by_client[client_id] = nil
  titles_by_client[client_id] = nil
end

return M
