--- Offers the quick fixes of the server for the diagnostics at the cursor, and shows each fix before it is applied.
---
--- Neovim's own code action menu sends a server only that server's diagnostics. This one sends the diagnostics of every
--- server and linter.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')
local spans = require('lsp_harness.span')
local workspace_edit = require('lsp_harness.workspace_edit')

local M = {}

--- Convert a diagnostic of Neovim to one of LSP. The range is computed anew because another server may count columns in
--- other units.
---@param diagnostic vim.Diagnostic
---@param buf integer
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Diagnostic
local function to_lsp_diagnostic(diagnostic, buf, encoding)
  local original = vim.tbl_get(diagnostic, 'user_data', 'lsp') or {}
  local range = spans.to_lsp_range({
    buf = buf,
    row = diagnostic.lnum,
    col = diagnostic.col,
    end_row = diagnostic.end_lnum or diagnostic.lnum,
    end_col = diagnostic.end_col or diagnostic.col,
  }, encoding)
  -- vim.diagnostic uses the severity numbers of LSP
  return vim.tbl_extend('keep', { range = range, message = diagnostic.message }, original, {
    severity = diagnostic.severity,
    source = diagnostic.source,
    code = diagnostic.code,
  })
end

--- Return the diagnostics on the lines of a span.
---@param span lsp_harness.Span
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Diagnostic[]
local function find_diagnostics(span, encoding)
  return vim
    .iter(vim.diagnostic.get(span.buf))
    :filter(function(diagnostic)
      return diagnostic.lnum <= span.end_row and (diagnostic.end_lnum or diagnostic.lnum) >= span.row
    end)
    :map(function(diagnostic)
      return to_lsp_diagnostic(diagnostic, span.buf, encoding)
    end)
    :totable()
end

---@param client vim.lsp.Client
---@param buf integer
---@param action lsp.CodeAction an action that has an edit
local function apply_edit(client, buf, action)
  workspace_edit.apply(action.edit, client.offset_encoding, action.title, 'always', function(applied, problem)
    if not applied then
      notify(('not applied: %s'):format(problem), problem ~= 'rejected' and vim.log.levels.WARN or nil)
    elseif action.command then
      server.run_command(client.id, action.command --[[@as lsp.Command]], buf)
    end
  end)
end

--- Run the chosen action. It has an edit, or must be resolved, or is a command.
---@param client vim.lsp.Client
---@param buf integer
---@param action lsp.CodeAction|lsp.Command
local function run_action(client, buf, action)
  if type(action.command) == 'string' then
    client:exec_cmd(action --[[@as lsp.Command]], { bufnr = buf })
  elseif action.edit then
    apply_edit(client, buf, action)
  elseif action.data ~= nil then
    requests.send(client, action.title, 'codeAction/resolve', action, buf, function(resolved)
      if resolved.edit then
        apply_edit(client, buf, resolved)
      else
        notify('the server returned no edit for this action', vim.log.levels.WARN)
      end
    end)
  elseif action.command then
    client:exec_cmd(action.command --[[@as lsp.Command]], { bufnr = buf })
  end
end

--- Return whether an action changes the text. One action of the server only opens the verdict.
---@param action lsp.CodeAction|lsp.Command
---@return boolean
local function changes_text(action)
  local command = type(action.command) == 'table' and action.command.command or action.command
  return command ~= commands.why
end

--- Offer the fixes for the diagnostics on the lines of a span. A single fix is previewed at once.
---@param span lsp_harness.Span
function M.fix(span)
  local client = server.require_client(server.client)
  if not client then
    return
  end
  if not client:supports_method('textDocument/codeAction', span.buf) then
    notify('this server offers no fixes', vim.log.levels.WARN)
    return
  end
  local diagnostics = find_diagnostics(span, client.offset_encoding)
  if #diagnostics == 0 then
    notify('there is no diagnostic on this line')
    return
  end
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(span.buf),
    range = spans.to_lsp_range(span, client.offset_encoding),
    context = {
      diagnostics = diagnostics,
      only = { 'quickfix' },
      triggerKind = vim.lsp.protocol.CodeActionTriggerKind.Invoked,
    },
  }
  requests.send(client, 'Fix', 'textDocument/codeAction', params, span.buf, function(result)
    local actions = vim.iter(result or {}):filter(changes_text):totable()
    if #actions == 0 then
      notify('the server has no fix for this diagnostic')
    elseif #actions == 1 then
      run_action(client, span.buf, actions[1])
    else
      vim.ui.select(actions, {
        prompt = 'Fix:',
        kind = 'codeaction',
        format_item = function(action)
          return (action.title:gsub('%s+', ' '))
        end,
      }, function(action)
        if action then
          run_action(client, span.buf, action)
        end
      end)
    end
  end)
end

return M
