--- Foreign agents: Claude Code, Codex and others, and programs of the user. `:LspHarness agent VERB …` is for them, and
--- `:LspHarness agent PROMPT` for the conversation with the model of the server.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')

local M = {}

---@class lsp_harness.AgentQuestion its texts come from the agent and are not trusted
---@field questionId string
---@field kind string
---@field question string
---@field tool string
---@field options string[]
---@field text? string all of the question, in a form that hides nothing

---@class lsp_harness.Agent
---@field id string
---@field name string
---@field type string
---@field status string
---@field state { source: string, rule: string, message: string }
---@field workdir string
---@field transport string
---@field isolation string
---@field hasTerminal boolean
---@field questions lsp_harness.AgentQuestion[]

--- Time that the completion of names waits for the server.
local COMPLETION_TIMEOUT_MS = 500
--- An agent may work for long on one message. The user can interrupt it at any time.
local SEND_TIMEOUT_MS = 3600000
local LOG_LINES = 1000
local ENDED = { stopped = true, error = true }

--- Return a text of an agent as one line without control characters.
---@param text string
---@return string
local function clean(text)
  -- the bytes of marks that turn the direction of writing, as in a text that looks like another one
  local marks = { '\226\128[\139-\143\168-\174]', '\226\129[\166-\169]' }
  for _, mark in ipairs(marks) do
    text = text:gsub(mark, ' ')
  end
  return vim.trim((text:gsub('%c', ' '):gsub('%s+', ' ')))
end

--- Show lines of an agent in a split, as plain text.
---@param title string
---@param lines string[]
---@param filetype? string
local function show_lines(title, lines, filetype)
  vim.cmd('botright new')
  local buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].filetype = false, filetype or ''
  vim.b[buf].lsp_harness_title = title
  vim.wo.winbar = title:gsub('%%', '%%%%')
end

---@param text string
---@return string[]
local function split(text)
  return vim.split(text, '\r?\n')
end

--- Execute a command of the server about agents.
---@param client vim.lsp.Client
---@param title string
---@param command string
---@param argument table
---@param on_result fun(result: any)
local function execute(client, title, command, argument, on_result)
  requests.execute(client, title, command, { argument }, on_result)
end

---@param agent lsp_harness.Agent
---@return string
local function describe(agent)
  local known = agent.state.source ~= '' and agent.state.source ~= 'process' and (' (%s)'):format(agent.state.source) or ''
  local questions = vim.tbl_map(function(question)
    return 'asks: ' .. clean(question.question)
  end, agent.questions or {})
  local type = agent.type ~= agent.name and (' [%s]'):format(agent.type) or ''
  local line = ('%s%s  %s%s  %s'):format(agent.name, type, agent.status, known, agent.id)
  return table.concat(vim.list_extend({ line }, questions), '\n    ')
end

--- Call `use` with the agents of a server.
---@param client vim.lsp.Client
---@param use fun(agents: lsp_harness.Agent[])
local function list(client, use)
  execute(client, 'Agents', commands.runtimeList, vim.empty_dict(), function(result)
    use(result.agents)
  end)
end

--- Find an agent by its name or by the beginning of its id.
---@param agents lsp_harness.Agent[]
---@param name string
---@return lsp_harness.Agent?
local function find(agents, name)
  local found = vim.tbl_filter(function(agent)
    return agent.name == name or vim.startswith(agent.id:lower(), name:lower())
  end, agents)
  -- an agent that runs comes before one of the same name that has ended
  table.sort(found, function(one, other)
    return ENDED[one.status] == nil and ENDED[other.status] ~= nil
  end)
  return found[1]
end

--- Call `use` with the agent that the user named. Without a name, it is the only one, or the user chooses one.
---@param client vim.lsp.Client
---@param name string
---@param is_possible fun(agent: lsp_harness.Agent): boolean
---@param use fun(agent: lsp_harness.Agent)
local function choose(client, name, is_possible, use)
  list(client, function(agents)
    if name ~= '' then
      local agent = find(agents, name)
      if agent then
        use(agent)
      else
        notify(('there is no agent %s; see :LspHarness agent list'):format(name), vim.log.levels.WARN)
      end
      return
    end
    local possible = vim.tbl_filter(is_possible, agents)
    if #possible == 0 then
      notify('there is no agent for that; start one with :LspHarness agent spawn', vim.log.levels.WARN)
    elseif #possible == 1 then
      use(possible[1])
    else
      vim.ui.select(possible, { prompt = 'Agent', format_item = describe }, function(agent)
        if agent then
          use(agent)
        end
      end)
    end
  end)
end

local function is_live(agent)
  return not ENDED[agent.status]
end

local function has_terminal(agent)
  return agent.hasTerminal
end

local function is_any()
  return true
end

local function in_worktree(agent)
  return agent.isolation == 'worktree'
end

--- Give an agent a message, and show its answer.
---@param client vim.lsp.Client
---@param agent lsp_harness.Agent
---@param message? string
local function send(client, agent, message)
  message = vim.trim(message or '')
  if message == '' then
    return
  end
  local queue = agent.status == 'busy'
  local argument = { agentId = agent.id, message = message, queue = queue, timeoutMs = SEND_TIMEOUT_MS }
  execute(client, agent.name, commands.runtimeSend, argument, function(reply)
    if not reply.submitted then
      notify(('%s did not take the message; look at its terminal'):format(agent.name), vim.log.levels.WARN)
    elseif vim.trim(reply.response) ~= '' then
      show_lines('Answer of ' .. agent.name, split(reply.response))
    end
    -- it may have changed files
    vim.cmd.checktime()
  end)
end

--- Send the answer to a question.
---@param client vim.lsp.Client
---@param agent lsp_harness.Agent
---@param question lsp_harness.AgentQuestion
---@param answer { isAllowed: boolean, text?: string, reason?: string }
local function send_answer(client, agent, question, answer)
  local argument = vim.tbl_extend('error', { agentId = agent.id, questionId = question.questionId }, answer)
  execute(client, agent.name, commands.runtimeAnswer, argument, function() end)
end

---@param client vim.lsp.Client
---@param agent lsp_harness.Agent
---@param question lsp_harness.AgentQuestion
local function ask(client, agent, question)
  local prompt = ('%s asks: %s'):format(agent.name, clean(question.question))
  if question.kind == 'permission' or question.kind == 'trust' then
    if question.text then
      prompt = ('%s asks:\n%s'):format(clean(agent.name), question.text)
    end
    -- a key that was pressed before the question does not answer it
    while vim.fn.getchar(0) ~= 0 do
    end
    vim.ui.select({ 'Allow', 'Deny' }, { prompt = prompt, format_item = tostring }, function(choice)
      if choice then
        send_answer(client, agent, question, { isAllowed = choice == 'Allow' })
      end
    end)
  elseif #question.options > 0 then
    vim.ui.select(question.options, { prompt = prompt, format_item = clean }, function(choice)
      if choice then
        send_answer(client, agent, question, { isAllowed = true, text = choice })
      end
    end)
  else
    vim.ui.input({ prompt = prompt .. ' ' }, function(text)
      if text then
        send_answer(client, agent, question, { isAllowed = true, text = text })
      end
    end)
  end
end

---@param client vim.lsp.Client
---@param title string
---@param command string
---@param argument table
local function change(client, title, command, argument)
  execute(client, title, command, argument, function(result)
    notify(clean(result.text))
    vim.cmd.checktime()
  end)
end

---@class lsp_harness.AgentChanges
---@field reviewId string
---@field passed boolean
---@field verdict string
---@field findings string[]
---@field files { path: string, kind: string }[]
---@field leftOut table<string, string>
---@field text string the diff

--- Let the server verify what an agent changed in its worktree.
---@param client vim.lsp.Client
---@param agent lsp_harness.Agent
---@param use fun(agent: lsp_harness.Agent, changes: lsp_harness.AgentChanges) is not called if there is nothing
local function review(client, agent, use)
  execute(client, 'Changes', commands.runtimeChanges, { agentId = agent.id }, function(changes)
    if #changes.files == 0 and next(changes.leftOut) == nil then
      notify(('%s changed nothing'):format(agent.name))
    else
      use(agent, changes)
    end
  end)
end

---@param agent lsp_harness.Agent
---@param changes lsp_harness.AgentChanges
local function show_changes(agent, changes)
  local lines = { ('# %d files: %s'):format(#changes.files, changes.verdict) }
  for _, finding in ipairs(changes.findings) do
    lines[#lines + 1] = '# ' .. clean(finding)
  end
  for path, reason in vim.spairs(changes.leftOut) do
    lines[#lines + 1] = ('# left out: %s: %s'):format(clean(path), clean(reason))
  end
  lines[#lines + 1] = ''
  show_lines('Changes of ' .. agent.name, vim.list_extend(lines, split(changes.text)), 'diff')
end

--- Show the verdict, and apply exactly what it is about.
---@param client vim.lsp.Client
---@param agent lsp_harness.Agent
local function apply(client, agent)
  review(client, agent, function(_, changes)
    if not changes.passed then
      local reason = clean(table.concat(changes.findings, '; '))
      notify(('the changes of %s do not pass: %s %s'):format(agent.name, changes.verdict, reason), vim.log.levels.WARN)
      show_changes(agent, changes)
      return
    end
    local prompt = ('Apply %d files of %s? %s'):format(#changes.files, agent.name, changes.verdict)
    vim.ui.select({ 'Apply', 'Show the changes' }, { prompt = prompt, format_item = tostring }, function(choice)
      if choice == 'Apply' then
        change(client, 'Apply', commands.runtimeApply, { agentId = agent.id, reviewId = changes.reviewId })
      elseif choice then
        show_changes(agent, changes)
      end
    end)
  end)
end

---@class lsp_harness.AgentVerb
---@field run fun(client: vim.lsp.Client, argument: string)
---@field command string the command of the server without which it does not work
---@field completes? fun(client: vim.lsp.Client): string[] the possible arguments

--- Return a verb that is about one agent: its argument is the name or id of it.
---@param command string
---@param is_possible fun(agent: lsp_harness.Agent): boolean
---@param run fun(client: vim.lsp.Client, agent: lsp_harness.Agent, rest: string)
---@return lsp_harness.AgentVerb
local function about_agent(command, is_possible, run)
  return {
    command = command,
    completes = M.names,
    run = function(client, argument)
      local name, rest = argument:match('^(%S*)%s*(.-)$')
      choose(client, name, is_possible, function(agent)
        run(client, agent, rest)
      end)
    end,
  }
end

--- Return the names of the agents of a server, for the completion of the command line.
---@param client vim.lsp.Client
---@return string[]
function M.names(client)
  local params = { command = commands.runtimeList, arguments = {} }
  local answer = client:request_sync('workspace/executeCommand', params, COMPLETION_TIMEOUT_MS)
  local agents = answer and answer.result and answer.result.agents or {}
  return vim.tbl_map(function(agent)
    return (agent.name:find('%s') and agent.id or agent.name)
  end, agents)
end

--- Return the kinds of agents that a server has.
---@param client vim.lsp.Client
---@return string[]
local function types(client)
  local params = { command = commands.runtimeTypes, arguments = {} }
  local answer = client:request_sync('workspace/executeCommand', params, 10 * COMPLETION_TIMEOUT_MS)
  return vim.tbl_map(function(each)
    return each.type
  end, answer and answer.result and answer.result.types or {})
end

--- Start an agent: `TYPE [terminal] [worktree]`.
---@param client vim.lsp.Client
---@param argument string
local function spawn(client, argument)
  local words = vim.split(argument, '%s+', { trimempty = true })
  local type = table.remove(words, 1)
  if not type then
    execute(client, 'Agents', commands.runtimeTypes, vim.empty_dict(), function(result)
      local function describe_type(each)
        local version = each.version ~= '' and each.version or 'installed'
        return ('%s  %s'):format(each.type, each.isInstalled and version or 'not installed')
      end
      vim.ui.select(result.types, { prompt = 'Start an agent', format_item = describe_type }, function(each)
        if each then
          spawn(client, each.type)
        end
      end)
    end)
    return
  end
  local buf = vim.api.nvim_get_current_buf()
  local uri = server.client(buf) == client and vim.uri_from_bufnr(buf) or vim.uri_from_fname(vim.fn.getcwd())
  local request = { type = type, uri = uri, terminal = vim.list_contains(words, 'terminal') or nil }
  request.isolation = vim.list_contains(words, 'worktree') and 'worktree' or nil
  execute(client, 'Start ' .. type, commands.runtimeSpawn, request, function(agent)
    if agent.hasTerminal then
      require('lsp_harness.agent_terminal').attach(client, agent)
    else
      notify(('%s is %s'):format(agent.name, agent.status))
    end
  end)
end

--- The verbs of `:LspHarness agent`.
---@type table<string, lsp_harness.AgentVerb>
M.verbs = {
  spawn = { command = commands.runtimeSpawn, completes = types, run = spawn },
  list = {
    command = commands.runtimeList,
    run = function(client)
      list(client, function(agents)
        notify(#agents == 0 and 'no agent was started' or table.concat(vim.tbl_map(describe, agents), '\n  '))
      end)
    end,
  },
  send = about_agent(commands.runtimeSend, is_live, function(client, agent, message)
    if message ~= '' then
      send(client, agent, message)
    else
      vim.ui.input({ prompt = ('Message to %s: '):format(agent.name) }, function(input)
        send(client, agent, input)
      end)
    end
  end),
  attach = about_agent(commands.runtimeAttach, has_terminal, function(client, agent)
    require('lsp_harness.agent_terminal').attach(client, agent)
  end),
  interrupt = about_agent(commands.runtimeInterrupt, is_live, function(client, agent)
    execute(client, 'Interrupt', commands.runtimeInterrupt, { agentId = agent.id }, function() end)
  end),
  stop = about_agent(commands.runtimeStop, is_live, function(client, agent)
    execute(client, 'Stop', commands.runtimeStop, { agentId = agent.id }, function()
      notify(('%s has ended'):format(agent.name))
    end)
  end),
  answer = about_agent(commands.runtimeAnswer, function(agent)
    return #(agent.questions or {}) > 0
  end, function(client, agent)
    local question = (agent.questions or {})[1]
    if question then
      ask(client, agent, question)
    else
      notify(('%s asks nothing'):format(agent.name))
    end
  end),
  logs = about_agent(commands.runtimeLogs, is_any, function(client, agent)
    execute(client, 'Log', commands.runtimeLogs, { agentId = agent.id, lines = LOG_LINES }, function(result)
      show_lines('Log of ' .. agent.name, result.lines)
    end)
  end),
  explain = about_agent(commands.runtimeExplain, is_any, function(client, agent)
    execute(client, 'State', commands.runtimeExplain, { agentId = agent.id }, function(result)
      show_lines('State of ' .. agent.name, split(vim.inspect(result)), 'lua')
    end)
  end),
  changes = about_agent(commands.runtimeChanges, in_worktree, function(client, agent)
    review(client, agent, show_changes)
  end),
  apply = about_agent(commands.runtimeApply, in_worktree, apply),
  undo = about_agent(commands.runtimeUndo, in_worktree, function(client, agent)
    change(client, 'Undo', commands.runtimeUndo, { agentId = agent.id })
  end),
  discard = about_agent(commands.runtimeDiscard, in_worktree, function(client, agent)
    change(client, 'Discard', commands.runtimeDiscard, { agentId = agent.id })
  end),
}

--- Run a verb. `run PROMPT` is for prompts that begin with a verb.
---@param argument string the words after `:LspHarness agent`
---@return boolean is_verb false if the first word is none, so that the words are a prompt
function M.run(argument)
  local name, rest = argument:match('^(%S*)%s*(.-)%s*$')
  local verb = M.verbs[name]
  if not verb then
    return false
  end
  local client = server.require_client(server.any_client)
  if client then
    verb.run(client, rest)
  end
  return true
end

--- Return the completions of the words after `:LspHarness agent`.
---@param words string[] the words before the one at the cursor
---@return string[]
function M.complete(words)
  local verb = M.verbs[words[1] or '']
  if not verb then
    return #words == 0 and vim.list_extend(vim.tbl_keys(M.verbs), { 'run' }) or {}
  end
  if words[1] == 'spawn' and #words > 1 then
    return { 'terminal', 'worktree' }
  end
  local client = server.any_client(vim.api.nvim_get_current_buf())
  if #words > 1 or not verb.completes or not client or not server.provides(client, verb.command) then
    return {}
  end
  return verb.completes(client)
end

return M
