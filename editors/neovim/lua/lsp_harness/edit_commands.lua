--- Edits by an instruction of the user, and the commands of our code actions that need code of their own.

local command_results = require('lsp_harness.command_results')
local names = require('lsp_harness.server_commands')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')
local spans = require('lsp_harness.span')

local M = {}

--- Send an instruction to the server. An empty instruction is not sent.
---@param client vim.lsp.Client
---@param place { uri: string, range: lsp.Range }
---@param instruction? string
local function send_instruction(client, place, instruction)
  instruction = vim.trim(instruction or '')
  if instruction ~= '' then
    local request = vim.tbl_extend('force', place, { instruction = instruction })
    local buf = vim.uri_to_bufnr(place.uri)
    requests.execute(client, 'Edit', names.instruct, { request }, command_results.edit, buf)
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
  [names.why] = function(command)
    require('lsp_harness.verdict').open(command.arguments[1])
  end,
}

return M
