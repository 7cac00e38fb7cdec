--- `:LspHarness`: one table of what it can do, which is also what it completes.

local server = require('lsp_harness.server')

local M = {}

---@param message string
---@param level? integer
local function tell(message, level)
  vim.notify('lsp-harness: ' .. message, level or vim.log.levels.INFO)
end

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

---@type table<string, fun()>
M.commands = {
  status = function()
    local paused = require('lsp_harness').paused()
    local drawn = vim.lsp.inline_completion and 'by Neovim' or 'by this plugin'
    local ghost = paused and 'ghost text is paused' or ('ghost text is on, drawn ' .. drawn)
    local client = server.client(vim.api.nvim_get_current_buf())
    if not client then
      tell('not attached to this buffer; ' .. ghost .. '. See :checkhealth lsp_harness', vim.log.levels.WARN)
      return
    end
    client:request('workspace/executeCommand', { command = server.STATUS }, function(err, result)
      if err then
        tell('no status: ' .. err.message, vim.log.levels.ERROR)
      else
        local lines = { ('attached as client %d; %s'):format(client.id, ghost) }
        tell(table.concat(vim.list_extend(lines, M.lines(result)), '\n  '))
      end
    end)
  end,
  pause = function()
    require('lsp_harness').pause()
    tell('ghost text is paused')
  end,
  resume = function()
    require('lsp_harness').resume()
    tell('ghost text is on')
  end,
  -- what the server writes to stderr is in Neovim's LSP log, among what Neovim writes about it
  log = function()
    vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename()))
    vim.cmd.normal({ 'G', bang = true })
  end,
  restart = function()
    server.restart()
    tell('restarting')
  end,
}

function M.create()
  vim.api.nvim_create_user_command('LspHarness', function(args)
    local run = M.commands[args.args]
    if run then
      run()
    else
      tell(('there is no :LspHarness %s'):format(args.args), vim.log.levels.ERROR)
    end
  end, {
    nargs = 1,
    desc = 'lsp-harness: status, pause, resume, log, restart',
    complete = function(lead)
      return vim
        .iter(vim.spairs(M.commands))
        :map(function(name)
          return vim.startswith(name, lead) and name or nil
        end)
        :totable()
    end,
  })
end

return M
