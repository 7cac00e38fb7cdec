--- Runs a prompt as a turn of a conversation, and shows the answer. The steps are the progress of the request. The next
--- prompt continues the conversation, until Neovim or the server ends.

local command_results = require('lsp_harness.command_results')
local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')

local M = {}

---@type table<integer, string> the id of the conversation, by client id
local sessions = {}

---@class lsp_harness.TurnResult
---@field sessionId string
---@field reason string
---@field detail string
---@field text string

---@param client vim.lsp.Client
---@param result lsp_harness.TurnResult
local function show_result(client, result)
  sessions[client.id] = result.sessionId
  if result.reason ~= 'completed' then
    notify(('Agent: %s (%s)'):format(result.detail, result.reason), vim.log.levels.WARN)
  end
  if result.text ~= '' then
    command_results.text(result)
  end
  -- tools write files, not buffers
  vim.cmd.checktime()
end

---@param client vim.lsp.Client
---@param prompt? string an empty one is not sent
local function send_prompt(client, prompt)
  prompt = vim.trim(prompt or '')
  if prompt ~= '' then
    local buf = vim.api.nvim_get_current_buf()
    local uri = server.client(buf) == client and vim.uri_from_bufnr(buf) or vim.uri_from_fname(vim.fn.getcwd())
    local request = { prompt = prompt, uri = uri, sessionId = sessions[client.id] }
    requests.execute(client, 'Agent', commands.agentRun, { request }, function(result)
      show_result(client, result)
    end)
  end
end

--- Run a prompt.
---@param prompt? string the user is asked if there is none
function M.run(prompt)
  local client = server.require_client(server.any_client)
  if not client then
    return
  end
  if prompt and prompt ~= '' then
    send_prompt(client, prompt)
  else
    vim.ui.input({ prompt = 'Agent: ' }, function(input)
      send_prompt(client, input)
    end)
  end
end

return M
