--- Shows the verdicts of the server, which say why it reports something, as read-only Markdown buffers
--- `lsp-harness-verdict:/…`.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local server = require('lsp_harness.server')

local M = {}

local SCHEME = 'lsp-harness-verdict'
local METHOD = 'workspace/textDocumentContent'

--- Request a verdict by the standard LSP method, or by the server's command if the server does not have the method.
---@param client vim.lsp.Client
---@param uri string
---@param on_response fun(err?: lsp.ResponseError, result?: { text: string })
---@return boolean requested
local function request_verdict(client, uri, on_response)
  local schemes = vim.tbl_get(client.server_capabilities, 'workspace', 'textDocumentContent', 'schemes')
  if vim.list_contains(schemes or {}, SCHEME) then
    return (client:request(METHOD, { uri = uri }, on_response))
  elseif server.provides(client, commands.why) then
    return (client:request('workspace/executeCommand', { command = commands.why, arguments = { uri } }, on_response))
  end
  return false
end

---@param buf integer
---@param text string
local function set_text(buf, text)
  if not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\r?\n'))
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Fill a buffer with a verdict. Asks one server after the other because only the server that made a verdict has it.
---@param buf integer
---@param uri string
---@param clients vim.lsp.Client[] the clients that are still to be asked
---@param problem string the text if no client is left
local function load_verdict(buf, uri, clients, problem)
  local client = table.remove(clients, 1)
  if not client then
    set_text(buf, problem)
    return
  end
  local requested = request_verdict(client, uri, function(err, result)
    if err then
      load_verdict(buf, uri, clients, err.message)
    else
      set_text(buf, result.text)
    end
  end)
  if not requested then
    load_verdict(buf, uri, clients, problem)
  end
end

--- Load verdicts into buffers with their scheme from now on.
---@param group integer autocommand group
function M.register_scheme(group)
  vim.api.nvim_create_autocmd('BufReadCmd', {
    group = group,
    pattern = SCHEME .. ':/*',
    callback = function(event)
      vim.bo[event.buf].buftype = 'nofile'
      vim.bo[event.buf].swapfile = false
      vim.bo[event.buf].filetype = 'markdown'
      load_verdict(event.buf, event.match, server.clients(), 'No server in this Neovim has this verdict.')
    end,
  })
end

---@param uri string
function M.open(uri)
  vim.cmd.split({ args = { vim.fn.fnameescape(uri) } })
end

---@param diagnostic vim.Diagnostic
---@return string? uri
local function verdict_uri(diagnostic)
  local href = vim.tbl_get(diagnostic, 'user_data', 'lsp', 'codeDescription', 'href')
  return type(href) == 'string' and vim.startswith(href, SCHEME .. ':') and href or nil
end

--- Open the verdict of a diagnostic on the cursor's line. A diagnostic under the cursor comes first.
function M.why()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local diagnostics = vim.tbl_filter(verdict_uri, vim.diagnostic.get(0, { lnum = row - 1 }))
  local at_cursor = vim.tbl_filter(function(diagnostic)
    return diagnostic.col <= col and col < math.max(diagnostic.end_col or 0, diagnostic.col + 1)
  end, diagnostics)
  diagnostics = #at_cursor > 0 and at_cursor or diagnostics
  if #diagnostics == 0 then
    notify('there is no diagnostic of lsp-harness on this line')
  elseif #diagnostics == 1 then
    M.open(verdict_uri(diagnostics[1]))
  else
    vim.ui.select(diagnostics, {
      prompt = 'Why:',
      format_item = function(diagnostic)
        return (diagnostic.message:gsub('%s+', ' '))
      end,
    }, function(diagnostic)
      if diagnostic then
        M.open(verdict_uri(diagnostic))
      end
    end)
  end
end

return M
