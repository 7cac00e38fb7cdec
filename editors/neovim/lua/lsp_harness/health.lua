--- `:checkhealth lsp_harness` checks Neovim, the executable and the server, each of which needs the one before.

local names = require('lsp_harness.server_commands')
local server = require('lsp_harness.server')

local M = {}

local health = vim.health
local TIMEOUT_MS = 5000

local function check_neovim()
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
local function check_executable(cmd)
  if type(cmd) ~= 'table' then
    health.info('The server is not started from an executable')
    return
  end
  local path = vim.fn.exepath(cmd[1])
  if path == '' then
    health.error(('%s is not executable'):format(cmd[1]), {
      'Install the server, see the README of this plugin',
      "or set its path: vim.lsp.config('lsp_harness', { cmd = { '/path/to/lsp-harness', 'serve' } })",
    })
    return
  end
  local started, process = pcall(vim.system, { path, '--version' }, { text = true, timeout = TIMEOUT_MS })
  local result = started and process:wait() or { code = -1, stderr = process }
  if result.code == 0 then
    -- the version, and a line each for the library and the model
    health.ok(('%s: %s'):format(path, (vim.trim(result.stdout):gsub('\n', '; '))))
  else
    health.error(('%s --version failed (%d): %s'):format(path, result.code, vim.trim(result.stderr or '')))
  end
end

---@param client vim.lsp.Client
local function report_status(client)
  local params = { command = names.status }
  local answer, failure = client:request_sync('workspace/executeCommand', params, TIMEOUT_MS)
  local err = failure or (answer and answer.err and answer.err.message)
  if err then
    health.error(('client %d does not report its status: %s'):format(client.id, err), ':LspHarness restart')
    return
  end
  for _, line in ipairs(require('lsp_harness.command').format_facts(answer and answer.result)) do
    health.info(line)
  end
end

--- Report the subcommands of `:LspHarness` that an older server does not support.
---@param client vim.lsp.Client
local function report_missing_commands(client)
  local missing = {}
  for name, subcommand in vim.spairs(require('lsp_harness.command').commands) do
    if subcommand.server_command and not server.provides(client, subcommand.server_command) then
      missing[#missing + 1] = name
    end
  end
  if #missing > 0 then
    health.info('this server does not support :LspHarness ' .. table.concat(missing, ', '))
  end
  if not server.provides(client, names.commands) then
    health.warn(
      ('this server has no %s, so :LspHarness lacks the subcommands that the server lists'):format(names.commands),
      'Update lsp-harness'
    )
  end
end

local function check_clients()
  local clients = vim.lsp.get_clients({ name = server.NAME })
  if #clients == 0 then
    local is_enabled = vim.lsp.is_enabled and vim.lsp.is_enabled(server.NAME)
    local advice = is_enabled and 'Open a file of a supported language, then check again'
      or "Put require('lsp_harness').setup() or vim.lsp.enable('lsp_harness') in your init.lua"
    health.warn('No client is running', advice)
  end
  for _, client in ipairs(clients) do
    local buffer_count = #vim.tbl_keys(client.attached_buffers)
    local root = client.root_dir or 'no project folder'
    health.ok(
      ('client %d is attached to %d buffer(s), %s, %s'):format(client.id, buffer_count, root, client.offset_encoding)
    )
    report_status(client)
    report_missing_commands(client)
  end
  if require('lsp_harness').paused() then
    health.warn('Ghost text is paused', ':LspHarness resume')
  end
end

function M.check()
  health.start('Neovim')
  check_neovim()
  health.start('Executable')
  check_executable((vim.lsp.config[server.NAME] or {}).cmd)
  health.start('Server')
  check_clients()
end

return M
