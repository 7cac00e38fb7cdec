--- The commands that this plugin only sends to the server, and whose results it shows. Each server lists its own, so
--- that a new command needs no code here.

local command_results = require('lsp_harness.command_results')
local names = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')
local spans = require('lsp_harness.span')

---@class lsp_harness.ForwardedCommand an item in the answer of `lspHarness.commands`, see docs/lsp-extensions.md
---@field name string the name in the protocol
---@field resultTitle string names the command in messages
---@field handler 'text'|'edit' how the result is shown
---@field sendsSelection boolean whether the argument is a place in the text

---@class lsp_harness.CommandList the answer of a server, or neither field while there is none
---@field commands? table<string, lsp_harness.ForwardedCommand> by the names without the prefix
---@field problem? string why there is no answer

local M = {}

--- Time that a user who runs a command waits for the list of a server that has just started.
local TIMEOUT_MS = 2000

---@type table<integer, lsp_harness.CommandList> by client id
local lists = {}

--- Return the commands that this plugin can forward. The others need code of their own.
---@param result { commands: lsp_harness.ForwardedCommand[] }
---@return table<string, lsp_harness.ForwardedCommand>
local function by_short_name(result)
  local commands = {}
  for _, command in ipairs(result.commands) do
    if command_results[command.handler] then
      commands[command.name:match('[^.]+$')] = command
    end
  end
  return commands
end

--- Handle the commands when code actions run them, so that their results are shown and their progress can be cancelled.
---@param client vim.lsp.Client
---@param commands table<string, lsp_harness.ForwardedCommand>
local function register_handlers(client, commands)
  local handlers = {}
  for _, forwarded in pairs(commands) do
    handlers[forwarded.name] = function(command)
      requests.execute(client, command.title, forwarded.name, command.arguments, command_results[forwarded.handler])
    end
  end
  -- a new table, because clients with the same configuration share theirs; handlers of the user stay
  client.commands = vim.tbl_extend('keep', client.commands, handlers)
end

--- Request the list of a client, unless that was done before. A server that is too old is not asked.
---@param client vim.lsp.Client
---@return lsp_harness.CommandList
function M.request(client)
  if lists[client.id] then
    return lists[client.id]
  end
  ---@type lsp_harness.CommandList
  local list = {}
  if not server.provides(client, names.commands) then
    list.problem = ('this server has no %s; update lsp-harness'):format(names.commands)
    return list
  end
  lists[client.id] = list
  client:request('workspace/executeCommand', { command = names.commands, arguments = {} }, function(err, result)
    if err then
      list.problem = err.message
      -- the next use asks again
      lists[client.id] = nil
    else
      list.commands = by_short_name(result)
      register_handlers(client, list.commands)
    end
  end)
  return list
end

--- Return a command of a server. If there is none, return the problem, or nil if the server has no such command. Waits
--- for the list of a server that has just started.
---@param client vim.lsp.Client
---@param short_name string
---@return lsp_harness.ForwardedCommand? command
---@return string? problem
local function find(client, short_name)
  local list = M.request(client)
  vim.wait(TIMEOUT_MS, function()
    return list.commands ~= nil or list.problem ~= nil or client:is_stopped()
  end, 10)
  if list.commands then
    return list.commands[short_name]
  end
  return nil, list.problem or 'the server has not answered yet; try again'
end

--- Send a command to the server and show its result. Warns the user if there is no server, or one that is too old.
---@param short_name string
---@param span lsp_harness.Span
---@return boolean is_known false if the server has no such command, which is for the caller to say
function M.run(short_name, span)
  local client = server.require_client(server.any_client)
  if not client then
    return true
  end
  local command, problem = find(client, short_name)
  if problem then
    notify(('%s: %s'):format(short_name, problem), vim.log.levels.WARN)
    return true
  elseif not command then
    return false
  end
  local arguments = {}
  if command.sendsSelection then
    client = server.require_client(server.client)
    if not client then
      return true
    end
    arguments[1] = { uri = vim.uri_from_bufnr(span.buf), range = spans.to_lsp_range(span, client.offset_encoding) }
  end
  requests.execute(client, command.resultTitle, command.name, arguments, command_results[command.handler], span.buf)
  return true
end

--- Return the names of the commands that a server has, as far as it has answered.
---@param client? vim.lsp.Client
---@return string[]
function M.names(client)
  local list = client and lists[client.id]
  return vim.tbl_keys(list and list.commands or {})
end

--- Forget the list of a client that has ended.
---@param client_id integer
function M.forget(client_id)
  lists[client_id] = nil
end

return M
