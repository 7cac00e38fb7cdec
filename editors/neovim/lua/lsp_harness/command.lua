--- `:LspHarness`: one table of what it can do, which is also what it completes.

local server = require('lsp_harness.server')
local spans = require('lsp_harness.span')
local tell = require('lsp_harness.tell')
local work = require('lsp_harness.work')

local M = {}

---@class lsp_harness.Call
---@field rest string what follows the subcommand's name
---@field span lsp_harness.Span the range, else the cursor

---@class lsp_harness.Subcommand
---@field run fun(call: lsp_harness.Call)
---@field words? string[] what may follow; nil allows nothing, {} anything

--- One line a fact, by name. What the server says about itself is its own business, so nothing is looked for.
---@param facts any
---@return string[]
function M.lines(facts)
  if type(facts) ~= 'table' then
    return { vim.inspect(facts) }
  end
  local lines = {}
  for name, value in vim.spairs(facts) do
    local said = type(value) == 'string' and value or vim.inspect(value, { newline = ' ', indent = '' })
    lines[#lines + 1] = ('%s: %s'):format(name, said)
  end
  return lines
end

local function status()
  local harness = require('lsp_harness')
  local ghost = harness.paused() and 'ghost text is paused'
    or ('ghost text is on, drawn ' .. (harness.native() and 'by Neovim' or 'by this plugin'))
  local client = server.client(vim.api.nvim_get_current_buf())
  if not client then
    tell('not attached to this buffer; ' .. ghost .. '. See :checkhealth lsp_harness', vim.log.levels.WARN)
    return
  end
  work.execute(client, 'Status', server.STATUS, {}, function(result)
    local lines = { ('attached as client %d; %s'):format(client.id, ghost) }
    tell(table.concat(vim.list_extend(lines, M.lines(result)), '\n  '))
  end)
end

local function statistics()
  local client = server.needed(server.any)
  if client then
    work.execute(client, 'Statistics', server.STATISTICS, {}, function(result)
      tell('suggestions on this machine\n  ' .. table.concat(M.lines(result), '\n  '))
    end)
  end
end

local function restart_engine()
  local client = server.needed(server.any)
  if client then
    work.execute(client, 'Engine', server.RESTART_ENGINE, {}, function(result)
      tell(('the engine has restarted with %s'):format(result.model))
    end)
  end
end

local function cancel()
  local titles = work.cancel()
  tell(#titles > 0 and 'cancelled: ' .. table.concat(titles, ', ') or 'nothing is running')
end

--- A module's function of the span, loaded when it is first called.
---@param module string
---@param name string
---@return lsp_harness.Subcommand
local function on_span(module, name)
  return {
    run = function(call)
      require('lsp_harness.' .. module)[name](call.span)
    end,
  }
end

---@type table<string, lsp_harness.Subcommand>
M.commands = {
  cancel = { run = cancel },
  context = on_span('instructing', 'context'),
  docstring = on_span('instructing', 'docstring'),
  edit = {
    words = {},
    run = function(call)
      require('lsp_harness.instructing').edit(call.span, call.rest)
    end,
  },
  engine = { words = { 'restart' }, run = restart_engine },
  explain = on_span('instructing', 'explain'),
  fix = on_span('fixing', 'fix'),
  locate = {
    words = {},
    run = function(call)
      require('lsp_harness.locating').locate(call.rest)
    end,
  },
  -- what the server writes to stderr is in Neovim's LSP log, among what Neovim writes about it
  log = {
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename()))
      vim.cmd.normal({ 'G', bang = true })
    end,
  },
  model = {
    run = function()
      require('lsp_harness.models').choose()
    end,
  },
  pause = {
    words = { 'here', 'everywhere' },
    run = function(call)
      local scope = call.rest ~= '' and call.rest or 'here'
      require('lsp_harness').pause(scope)
      tell(scope == 'everywhere' and 'ghost text is paused everywhere' or 'ghost text is paused')
    end,
  },
  pull = {
    words = {},
    run = function(call)
      local models = require('lsp_harness.models')
      if call.rest ~= '' then
        models.pull(call.rest)
      else
        models.choose_to_pull()
      end
    end,
  },
  restart = {
    run = function()
      server.restart()
      tell('restarting')
    end,
  },
  resume = {
    run = function()
      require('lsp_harness').resume()
      tell('ghost text is on')
    end,
  },
  statistics = { run = statistics },
  status = { run = status },
  tests = on_span('instructing', 'tests'),
  why = {
    run = function()
      require('lsp_harness.verdict').why()
    end,
  },
}

---@param name string
---@param rest string
---@return boolean
local function understood(name, rest)
  local command = M.commands[name]
  if not command then
    return false
  end
  local words = command.words
  if not words then
    return rest == ''
  end
  -- the engine is to be told what to do, a pause need not be
  return #words == 0 or vim.list_contains(words, rest) or (rest == '' and name ~= 'engine')
end

---@param lead string
---@param line string
---@return string[]
local function complete(lead, line)
  local before = vim.split(vim.trim(line:sub(1, #line - #lead)), '%s+')
  local name = before[#before]
  local words = M.commands[name] and M.commands[name].words or vim.tbl_keys(M.commands)
  table.sort(words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

function M.create()
  vim.api.nvim_create_user_command('LspHarness', function(args)
    local name, rest = args.args:match('^(%S+)%s*(.-)%s*$')
    if not understood(name, rest) then
      tell(('there is no :LspHarness %s'):format(args.args), vim.log.levels.ERROR)
      return
    end
    local span = args.range > 0 and spans.lines(args.line1, args.line2) or spans.cursor()
    M.commands[name].run({ rest = rest, span = span })
  end, { nargs = '+', range = true, desc = 'lsp-harness: see :help :LspHarness', complete = complete })
end

return M
