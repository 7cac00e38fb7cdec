--- Commands that edit or explain code: an edit by an instruction, and the commands that need no code of their own.

local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')
local server_commands = require('lsp_harness.server_commands')
local spans = require('lsp_harness.span')

local M = {}

--- Report the outcome of an edit command. The edit itself arrives as a `workspace/applyEdit` request.
---@param result any
local function report_outcome(result)
  if type(result) ~= 'table' or result == vim.NIL then
    return
  end
  local function non_empty(value)
    return type(value) == 'string' and value ~= '' and value or nil
  end
  if result.applied then
    notify(non_empty(result.summary) or 'applied')
  else
    local reason = non_empty(result.failureReason) or non_empty(result.summary) or 'the server gives no reason'
    notify('not applied: ' .. reason, reason ~= 'rejected' and vim.log.levels.WARN or nil)
  end
end

--- Show the Markdown in a result in a floating window, which closes when the cursor moves.
---@param result any
local function show_markdown(result)
  local markdown = type(result) == 'table' and result.text or ''
  vim.lsp.util.open_floating_preview(
    vim.split(markdown, '\r?\n'),
    'markdown',
    { border = 'rounded', max_width = 100, focus_id = 'lsp_harness' }
  )
end

local result_handlers = { text = show_markdown, edit = report_outcome }

--- Send a command that needs no code of its own, and show its result.
---@param forwarded lsp_harness.ForwardedCommand
---@param span lsp_harness.Span
function M.forward(forwarded, span)
  local client = server.require_client(forwarded.sends_selection and server.client or server.any_client)
  if not client then
    return
  end
  local arguments = {}
  if forwarded.sends_selection then
    arguments[1] = { uri = vim.uri_from_bufnr(span.buf), range = spans.to_lsp_range(span, client.offset_encoding) }
  end
  local on_result = result_handlers[forwarded.handler]
  requests.execute(client, forwarded.title, forwarded.command, arguments, on_result, span.buf)
end

--- Send an instruction to the server. An empty instruction is not sent.
---@param client vim.lsp.Client
---@param place { uri: string, range: lsp.Range }
---@param instruction? string
local function send_instruction(client, place, instruction)
  instruction = vim.trim(instruction or '')
  if instruction ~= '' then
    local request = vim.tbl_extend('force', place, { instruction = instruction })
    local buf = vim.uri_to_bufnr(place.uri)
    requests.execute(client, 'Edit', server_commands.names.instruct, { request }, report_outcome, buf)
  end
end

--- Prompt the user for an instruction and send it.
---@param client vim.lsp.Client
---@param place { uri: string, range: lsp.Range }
local function prompt_instruction(client, place)
  vim.ui.input({ prompt = 'Edit: ' }, function(instruction)
    send_instruction(client, place, instruction)
  end)
end

--- Edit a span by an instruction.
---@param span lsp_harness.Span
---@param instruction? string the user is prompted if there is none
function M.edit(span, instruction)
  local client = server.require_client(server.client)
  if not client then
    return
  end
  local place = { uri = vim.uri_from_bufnr(span.buf), range = spans.to_lsp_range(span, client.offset_encoding) }
  if instruction and instruction ~= '' then
    send_instruction(client, place, instruction)
  else
    prompt_instruction(client, place)
  end
end

--- The commands of our code actions, for Neovim's own code action menu. Some are commands of the server: they are
--- listed here so that their answers are shown and their progress can be cancelled.
---@type table<string, fun(command: lsp.Command, ctx: { client_id: integer })>
M.commands = {
  [server.ASK_INSTRUCTION] = function(command, ctx)
    prompt_instruction(assert(vim.lsp.get_client_by_id(ctx.client_id)), command.arguments[1])
  end,
  [server_commands.names.why] = function(command)
    require('lsp_harness.verdict').open(command.arguments[1])
  end,
}
for _, forwarded in pairs(server_commands.forwarded) do
  M.commands[forwarded.command] = function(command, ctx)
    local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
    local on_result = result_handlers[forwarded.handler]
    requests.execute(client, command.title, forwarded.command, command.arguments, on_result)
  end
end

return M
