--- What the user asks for in words or by name: an edit, a docstring, tests, an explanation.

local server = require('lsp_harness.server')
local spans = require('lsp_harness.span')
local tell = require('lsp_harness.tell')
local work = require('lsp_harness.work')

local M = {}

--- How a command that edits has ended. The edit itself came as `workspace/applyEdit`.
---@param result any
local function ended(result)
  if type(result) ~= 'table' or result == vim.NIL then
    return
  end
  local function said(value)
    return type(value) == 'string' and value ~= '' and value or nil
  end
  if result.applied then
    tell(said(result.summary) or 'applied')
  else
    local reason = said(result.failureReason) or said(result.summary) or 'the server does not say why'
    tell('not applied: ' .. reason, reason ~= 'rejected' and vim.log.levels.WARN or nil)
  end
end

--- Markdown in a floating window, which the next move of the cursor closes.
---@param result { text: string }
local function show(result)
  local lines = vim.split(result.text, '\r?\n')
  vim.lsp.util.open_floating_preview(
    lines,
    'markdown',
    { border = 'rounded', max_width = 100, focus_id = 'lsp_harness' }
  )
end

---@param name string
---@param title string
---@param done fun(result: any)
---@return fun(span: lsp_harness.Span)
local function by_name(name, title, done)
  return function(span)
    local client = server.needed(server.client)
    if client then
      local place = { uri = vim.uri_from_bufnr(span.buf), range = spans.range(span, client.offset_encoding) }
      work.execute(client, title, name, { place }, done, span.buf)
    end
  end
end

M.docstring = by_name(server.DOCSTRING, 'Docstring', ended)
M.tests = by_name(server.TESTS, 'Tests', ended)
M.explain = by_name(server.EXPLAIN, 'Explain', show)
M.context = by_name(server.CONTEXT, 'Context', show)

---@param client vim.lsp.Client
---@param place { uri: string, range: lsp.Range }
---@param instruction? string
local function instruct(client, place, instruction)
  instruction = vim.trim(instruction or '')
  if instruction ~= '' then
    local request = vim.tbl_extend('force', place, { instruction = instruction })
    work.execute(client, 'Edit', server.INSTRUCT, { request }, ended, vim.uri_to_bufnr(place.uri))
  end
end

---@param client vim.lsp.Client
---@param place { uri: string, range: lsp.Range }
local function ask(client, place)
  vim.ui.input({ prompt = 'Edit: ' }, function(instruction)
    instruct(client, place, instruction)
  end)
end

---@param span lsp_harness.Span
---@param instruction? string without one the user is asked
function M.edit(span, instruction)
  local client = server.needed(server.client)
  if not client then
    return
  end
  local place = { uri = vim.uri_from_bufnr(span.buf), range = spans.range(span, client.offset_encoding) }
  if instruction and instruction ~= '' then
    instruct(client, place, instruction)
  else
    ask(client, place)
  end
end

--- What our code actions name, for Neovim's own menu of them. The server's own commands among them are here since their
--- answers are to be shown, and their progress to be cancelled.
---@type table<string, fun(command: lsp.Command, ctx: { client_id: integer })>
M.commands = {
  [server.ASK] = function(command, ctx)
    ask(assert(vim.lsp.get_client_by_id(ctx.client_id)), command.arguments[1])
  end,
  [server.WHY] = function(command)
    require('lsp_harness.verdict').open(command.arguments[1])
  end,
}
for name, done in pairs({ [server.DOCSTRING] = ended, [server.TESTS] = ended, [server.EXPLAIN] = show }) do
  M.commands[name] = function(command, ctx)
    local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
    work.execute(client, command.title, name, command.arguments, done)
  end
end

return M
