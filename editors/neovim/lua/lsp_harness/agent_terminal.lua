--- The terminals of foreign agents, each in a buffer. Its bytes come piece by piece, each as the answer to a request, so
--- that an agent that prints without end cannot delay completions. Wiping the buffer out does not end the agent.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')

local M = {}

local group = vim.api.nvim_create_augroup('lsp_harness.agent_terminal', {})

---@class lsp_harness.AgentTerminal
---@field client vim.lsp.Client
---@field agent_id string
---@field buf integer
---@field channel integer
---@field viewer_id? string
---@field has_ended boolean

---@type table<string, lsp_harness.AgentTerminal> by the id of the agent
local terminals = {}

--- Execute a command without progress and without a message: one is sent for every key.
---@param terminal lsp_harness.AgentTerminal
---@param command string
---@param argument table
---@param on_result? fun(result: any)
local function send(terminal, command, argument, on_result)
  local params = { command = command, arguments = { argument } }
  local client = terminal.client
  if client:is_stopped() then
    return
  end
  client:request('workspace/executeCommand', params, function(err, result)
    if err then
      vim.lsp.log.warn('lsp_harness', command, err)
    end
    if on_result then
      on_result(not err and result or nil)
    end
  end)
end

--- Show bytes, unless the buffer is gone.
---@param terminal lsp_harness.AgentTerminal
---@param bytes string
local function show(terminal, bytes)
  if bytes ~= '' and vim.api.nvim_buf_is_valid(terminal.buf) then
    vim.api.nvim_chan_send(terminal.channel, bytes)
  end
end

---@param terminal lsp_harness.AgentTerminal
---@param reason string
local function finish(terminal, reason)
  terminal.has_ended = true
  terminal.viewer_id = nil
  local text = reason:gsub('%c', ' ')
  show(terminal, ('\r\n\27[0;2m[%s]\27[0m\r\n'):format(text ~= '' and text or 'the agent has ended'))
end

--- Read the next piece, and go on until the agent ends or the buffer is gone.
---@param terminal lsp_harness.AgentTerminal
local function read(terminal)
  if not terminal.viewer_id then
    return
  end
  send(terminal, commands.runtimeRead, { viewerId = terminal.viewer_id }, function(piece)
    if not piece then
      finish(terminal, 'the server has gone')
      return
    end
    show(terminal, vim.base64.decode(piece.data))
    if piece.isEnd then
      finish(terminal, piece.reason)
    else
      read(terminal)
    end
  end)
end

--- Return the size of a window that shows the terminal, or nil if there is none.
---@param terminal lsp_harness.AgentTerminal
---@return integer? columns
---@return integer? rows
local function window_size(terminal)
  local window = vim.fn.bufwinid(terminal.buf)
  if window ~= -1 then
    local info = vim.fn.getwininfo(window)[1]
    return info.width - info.textoff, info.height
  end
end

--- Tell the agent the size of its window when that changes.
---@param terminal lsp_harness.AgentTerminal
local function watch(terminal)
  vim.api.nvim_create_autocmd({ 'WinResized', 'VimResized' }, {
    group = group,
    callback = function()
      if terminals[terminal.agent_id] ~= terminal then
        return true
      end
      local columns, rows = window_size(terminal)
      if columns and not terminal.has_ended then
        send(terminal, commands.runtimeResize, { agentId = terminal.agent_id, columns = columns, rows = rows })
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = terminal.buf,
    once = true,
    callback = function()
      terminals[terminal.agent_id] = nil
      if terminal.viewer_id then
        send(terminal, commands.runtimeDetach, { viewerId = terminal.viewer_id })
        terminal.viewer_id = nil
      end
    end,
  })
end

---@param client vim.lsp.Client
---@param agent lsp_harness.Agent
---@return lsp_harness.AgentTerminal
local function open(client, agent)
  local buf = vim.api.nvim_get_current_buf()
  local terminal = { client = client, agent_id = agent.id, buf = buf, channel = 0, has_ended = false }
  terminal.channel = vim.api.nvim_open_term(buf, {
    -- the agent writes both characters of a line break where it wants both
    force_crlf = false,
    on_input = function(_, _, _, keys)
      if not terminal.has_ended then
        send(terminal, commands.runtimePress, { agentId = agent.id, keys = vim.base64.encode(keys) })
      end
    end,
  })
  vim.bo[buf].bufhidden = 'hide'
  vim.api.nvim_buf_set_name(buf, ('lsp-harness-agent://%s/%s'):format(agent.id, (agent.name:gsub('[%c/]', ' '))))
  terminals[agent.id] = terminal
  watch(terminal)
  return terminal
end

--- Show the terminal of an agent in a split. One that is shown already gets the cursor.
---@param client vim.lsp.Client
---@param agent lsp_harness.Agent
function M.attach(client, agent)
  local shown = terminals[agent.id]
  if shown and vim.api.nvim_buf_is_valid(shown.buf) then
    local window = vim.fn.bufwinid(shown.buf)
    if window ~= -1 then
      vim.api.nvim_set_current_win(window)
    else
      vim.cmd.sbuffer(shown.buf)
    end
    return
  end
  vim.cmd('botright new')
  local terminal = open(client, agent)
  local columns, rows = window_size(terminal)
  local argument = { agentId = agent.id, columns = columns, rows = rows }
  send(terminal, commands.runtimeAttach, argument, function(attached)
    if not attached then
      notify(('%s has no terminal; start it with :LspHarness agent spawn %s terminal'):format(agent.name, agent.type), vim.log.levels.WARN)
      vim.api.nvim_buf_delete(terminal.buf, { force = true })
      return
    end
    if not vim.api.nvim_buf_is_valid(terminal.buf) then
      send(terminal, commands.runtimeDetach, { viewerId = attached.viewerId })
      return
    end
    terminal.viewer_id = attached.viewerId
    read(terminal)
  end)
  vim.cmd.startinsert()
end

return M
