--- `:checkhealth lsp_harness`: each thing that has to be there, in the order in which one needs the other.

local server = require('lsp_harness.server')

local M = {}

local health = vim.health
local TIMEOUT = 5000

local function neovim()
  local version = tostring(vim.version())
  if require('lsp_harness').native() then
    health.ok(('Neovim %s, which draws ghost text itself'):format(version))
  elseif vim.fn.has('nvim-0.11') == 1 then
    health.ok(('Neovim %s; ghost text is drawn by this plugin'):format(version))
  else
    health.error(('Neovim %s is too old'):format(version), 'Install Neovim 0.11 or newer')
  end
end

---@param cmd any
local function executable(cmd)
  if type(cmd) ~= 'table' then
    health.info('The server is not started from an executable')
    return
  end
  local path = vim.fn.exepath(cmd[1])
  if path == '' then
    health.error(('%s is not executable'):format(cmd[1]), {
      'Install the server, see the README of this plugin',
      "or say where it is: vim.lsp.config('lsp_harness', { cmd = { '/path/to/lsp-harness', 'serve' } })",
    })
    return
  end
  local started, running = pcall(vim.system, { path, '--version' }, { text = true, timeout = TIMEOUT })
  local ended = started and running:wait() or { code = -1, stderr = running }
  if ended.code == 0 then
    health.ok(('%s: %s'):format(path, vim.trim(ended.stdout)))
  else
    health.error(('%s --version failed (%d): %s'):format(path, ended.code, vim.trim(ended.stderr or '')))
  end
end

---@param client vim.lsp.Client
local function engine(client)
  local answer, failure = client:request_sync('workspace/executeCommand', { command = server.STATUS }, TIMEOUT)
  local err = failure or (answer and answer.err and answer.err.message)
  if err then
    health.error(('client %d does not tell its status: %s'):format(client.id, err), ':LspHarness restart')
    return
  end
  for _, line in ipairs(require('lsp_harness.command').lines(answer and answer.result)) do
    health.info(line)
  end
end

--- What an older server cannot do, by the names of `:LspHarness`.
---@param client vim.lsp.Client
local function lacking(client)
  local needs = {
    context = server.CONTEXT,
    docstring = server.DOCSTRING,
    edit = server.INSTRUCT,
    engine = server.RESTART_ENGINE,
    explain = server.EXPLAIN,
    locate = server.LOCATE,
    model = server.MODELS,
    pull = server.PULL,
    statistics = server.STATISTICS,
    tests = server.TESTS,
  }
  local missing = {}
  for name, command in vim.spairs(needs) do
    if not server.offers(client, command) then
      missing[#missing + 1] = name
    end
  end
  if #missing > 0 then
    health.info('this server has nothing for :LspHarness ' .. table.concat(missing, ', '))
  end
end

local function clients()
  local found = vim.lsp.get_clients({ name = server.NAME })
  if #found == 0 then
    local enabled = vim.lsp.is_enabled and vim.lsp.is_enabled(server.NAME)
    local advice = enabled and 'Open a file it is for, then check again'
      or "Put require('lsp_harness').setup() or vim.lsp.enable('lsp_harness') in your init.lua"
    health.warn('No client is running', advice)
  end
  for _, client in ipairs(found) do
    local buffers = #vim.tbl_keys(client.attached_buffers)
    local root = client.root_dir or 'no project folder'
    health.ok(
      ('client %d is attached to %d buffer(s), %s, %s'):format(client.id, buffers, root, client.offset_encoding)
    )
    engine(client)
    lacking(client)
  end
  if require('lsp_harness').paused() then
    health.warn('Ghost text is paused', ':LspHarness resume')
  end
end

function M.check()
  health.start('Neovim')
  neovim()
  health.start('Executable')
  executable((vim.lsp.config[server.NAME] or {}).cmd)
  health.start('Server')
  clients()
end

return M
