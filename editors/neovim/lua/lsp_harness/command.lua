--- The command `:LspHarness`. Its subcommands are those of one table, and those that the server lists.

local forwarded_commands = require('lsp_harness.forwarded_commands')
local names = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')
local spans = require('lsp_harness.span')

local M = {}

---@class lsp_harness.Call
---@field argument string the text after the subcommand, '' if there is none
---@field span lsp_harness.Span the range of the command, or else the cursor

---@class lsp_harness.Subcommand
---@field run fun(call: lsp_harness.Call)
---@field words? string[] the possible arguments; nil allows none, {} allows any text
---@field needs_argument? boolean
---@field complete? fun(words: string[]): string[] completes the argument after these words
---@field server_command? string the command of the server without which the subcommand does not work

--- Format facts of the server as one line each, sorted by name. The results of the type checkers come last, in words.
--- No other names are expected because servers differ.
---@param facts any
---@return string[]
function M.format_facts(facts)
  if type(facts) ~= 'table' then
    return { vim.inspect(facts) }
  end
  facts = vim.deepcopy(facts)
  local type_lines = require('lsp_harness.type_checks').take(facts)
  local lines = {}
  for name, value in vim.spairs(facts) do
    local text = type(value) == 'string' and value or vim.inspect(value, { newline = ' ', indent = '' })
    lines[#lines + 1] = ('%s: %s'):format(name, text)
  end
  return vim.list_extend(lines, type_lines)
end

local function show_status()
  local harness = require('lsp_harness')
  local ghost = harness.paused() and 'ghost text is paused'
    or ('ghost text is on, drawn ' .. (harness.native() and 'by Neovim' or 'by this plugin'))
  local client = server.client(vim.api.nvim_get_current_buf())
  if not client then
    notify('no server is attached to this buffer; ' .. ghost .. '. See :checkhealth lsp_harness', vim.log.levels.WARN)
    return
  end
  requests.execute(client, 'Status', names.status, {}, function(result)
    local lines = { ('attached as client %d; %s'):format(client.id, ghost) }
    notify(table.concat(vim.list_extend(lines, M.format_facts(result)), '\n  '))
  end)
end

local function show_statistics()
  local client = server.require_client(server.any_client)
  if client then
    requests.execute(client, 'Statistics', names.statistics, {}, function(result)
      notify('suggestions on this machine\n  ' .. table.concat(M.format_facts(result), '\n  '))
    end)
  end
end

local function restart_engine()
  local client = server.require_client(server.any_client)
  if client then
    requests.execute(client, 'Engine', names.restartEngine, {}, function(result)
      notify(('the engine has restarted with %s'):format(result.model))
    end)
  end
end

local function cancel()
  local titles = requests.cancel_all()
  -- Neovim does not call the handler of a request that the server cancelled, so it would be pending forever
  if require('lsp_harness.completion_request').cancel() and #titles == 0 then
    titles[1] = 'the requested suggestion'
  end
  notify(#titles > 0 and 'cancelled: ' .. table.concat(titles, ', ') or 'nothing is running')
end

--- The subcommands that need code of their own.
---@type table<string, lsp_harness.Subcommand>
M.commands = {
  agent = {
    words = {},
    server_command = names.agentRun,
    run = function(call)
      if not require('lsp_harness.agents').run(call.argument) then
        -- `run` is for prompts that begin with a verb
        local prompt = call.argument:match('^run%s+(.*)$') or call.argument
        require('lsp_harness.agent').run(prompt ~= 'run' and prompt or '')
      end
    end,
    complete = function(words)
      return require('lsp_harness.agents').complete(words)
    end,
  },
  cancel = { run = cancel },
  edit = {
    words = {},
    server_command = names.instruct,
    run = function(call)
      require('lsp_harness.edit_commands').edit(call.span, call.argument)
    end,
  },
  engine = {
    words = { 'restart' },
    needs_argument = true,
    server_command = names.restartEngine,
    run = restart_engine,
  },
  fix = {
    run = function(call)
      require('lsp_harness.quick_fix').fix(call.span)
    end,
  },
  locate = {
    words = {},
    server_command = names.locate,
    run = function(call)
      require('lsp_harness.task_location').locate(call.argument)
    end,
  },
  -- Neovim writes the server's stderr into its LSP log
  log = {
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename()))
      vim.cmd.normal({ 'G', bang = true })
    end,
  },
  model = {
    server_command = names.models,
    run = function()
      require('lsp_harness.models').choose()
    end,
  },
  pause = {
    words = { 'here', 'everywhere' },
    run = function(call)
      local scope = call.argument ~= '' and call.argument or 'here'
      require('lsp_harness').pause(scope)
      notify(scope == 'everywhere' and 'ghost text is paused everywhere' or 'ghost text is paused')
    end,
  },
  pull = {
    words = {},
    server_command = names.pullModel,
    run = function(call)
      local models = require('lsp_harness.models')
      if call.argument ~= '' then
        models.pull(call.argument)
      else
        models.choose_to_pull()
      end
    end,
  },
  restart = {
    run = function()
      server.restart()
      notify('the server is restarting')
    end,
  },
  resume = {
    run = function()
      require('lsp_harness').resume()
      notify('ghost text is on')
    end,
  },
  statistics = { server_command = names.statistics, run = show_statistics },
  status = { run = show_status },
  why = {
    run = function()
      require('lsp_harness.verdict').why()
    end,
  },
}

--- Return whether a subcommand takes this argument.
---@param command lsp_harness.Subcommand
---@param argument string
---@return boolean
local function is_valid(command, argument)
  local words = command.words
  if not words then
    return argument == ''
  end
  return #words == 0 or vim.list_contains(words, argument) or (argument == '' and not command.needs_argument)
end

--- Run a subcommand.
---@param name string
---@param call lsp_harness.Call
---@return boolean exists false if there is no such subcommand, or it does not take the argument
local function run(name, call)
  local command = M.commands[name]
  if not command then
    return call.argument == '' and forwarded_commands.run(name, call.span)
  elseif not is_valid(command, call.argument) then
    return false
  end
  command.run(call)
  return true
end

--- Return the names of all subcommands in this buffer.
---@return string[]
local function subcommand_names()
  local found = vim.tbl_keys(M.commands)
  for _, name in ipairs(forwarded_commands.names(server.any_client(vim.api.nvim_get_current_buf()))) do
    if not M.commands[name] then
      found[#found + 1] = name
    end
  end
  return found
end

--- Return the possible words after those before the cursor.
---@param before string[] without the name of the command
---@return string[]
local function completions(before)
  local command = M.commands[before[1] or '']
  if command and command.complete then
    return command.complete(vim.list_slice(before, 2))
  end
  return #before > 0 and vim.list_slice(command and command.words or {}) or subcommand_names()
end

--- Return the completions of the command line.
---@param lead string the beginning of the word at the cursor
---@param line string
---@return string[]
local function complete(lead, line)
  local before = vim.split(vim.trim(line:sub(1, #line - #lead)), '%s+')
  local words = completions(vim.list_slice(before, 2))
  table.sort(words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

function M.define()
  vim.api.nvim_create_user_command('LspHarness', function(args)
    local name, argument = args.args:match('^(%S+)%s*(.-)%s*$')
    local span = args.range > 0 and spans.lines(args.line1, args.line2) or spans.cursor()
    if not run(name, { argument = argument, span = span }) then
      notify(('there is no :LspHarness %s'):format(args.args), vim.log.levels.ERROR)
    end
  end, { nargs = '+', range = true, desc = 'lsp-harness: see :help :LspHarness', complete = complete })
end

return M
