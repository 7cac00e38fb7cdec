--- Quick fixes: what the server offers for the diagnostics where the cursor is, shown before it is applied.
---
--- Neovim's own menu tells a server only of its own diagnostics. This one fixes those of any server, and of linters too.

local applying = require('lsp_harness.applying')
local server = require('lsp_harness.server')
local spans = require('lsp_harness.span')
local tell = require('lsp_harness.tell')
local work = require('lsp_harness.work')

local M = {}

--- A diagnostic in the terms of the protocol. Its place is worked out anew: another server may count in other units.
---@param diagnostic vim.Diagnostic
---@param buf integer
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Diagnostic
local function protocol(diagnostic, buf, encoding)
  local known = vim.tbl_get(diagnostic, 'user_data', 'lsp') or {}
  local range = spans.range({
    buf = buf,
    row = diagnostic.lnum,
    col = diagnostic.col,
    end_row = diagnostic.end_lnum or diagnostic.lnum,
    end_col = diagnostic.end_col or diagnostic.col,
  }, encoding)
  -- the levels of vim.diagnostic are those of the protocol
  return vim.tbl_extend('keep', { range = range, message = diagnostic.message }, known, {
    severity = diagnostic.severity,
    source = diagnostic.source,
    code = diagnostic.code,
  })
end

--- The diagnostics on the lines of a span, as the server is told of them.
---@param span lsp_harness.Span
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Diagnostic[]
local function diagnostics(span, encoding)
  return vim
    .iter(vim.diagnostic.get(span.buf))
    :filter(function(each)
      return each.lnum <= span.end_row and (each.end_lnum or each.lnum) >= span.row
    end)
    :map(function(each)
      return protocol(each, span.buf, encoding)
    end)
    :totable()
end

---@param client vim.lsp.Client
---@param buf integer
---@param action lsp.CodeAction with its edit
local function apply(client, buf, action)
  applying.make(action.edit, client.offset_encoding, action.title, 'always', function(applied, problem)
    if not applied then
      tell(('not applied: %s'):format(problem), problem ~= 'rejected' and vim.log.levels.WARN or nil)
    elseif action.command then
      server.run(client.id, action.command --[[@as lsp.Command]], buf)
    end
  end)
end

--- Does what was chosen: the edit is there, or is to be worked out, or is the server's to make.
---@param client vim.lsp.Client
---@param buf integer
---@param action lsp.CodeAction|lsp.Command
local function choose(client, buf, action)
  if type(action.command) == 'string' then
    client:exec_cmd(action --[[@as lsp.Command]], { bufnr = buf })
  elseif action.edit then
    apply(client, buf, action)
  elseif action.data ~= nil then
    work.request(client, action.title, 'codeAction/resolve', action, buf, function(resolved)
      if resolved.edit then
        apply(client, buf, resolved)
      else
        tell('the server has no edit for it', vim.log.levels.WARN)
      end
    end)
  elseif action.command then
    client:exec_cmd(action.command --[[@as lsp.Command]], { bufnr = buf })
  end
end

--- Whether an action changes something: ours also has one that only shows its reasons.
---@param action lsp.CodeAction|lsp.Command
---@return boolean
local function fixes(action)
  local command = type(action.command) == 'table' and action.command.command or action.command
  return command ~= server.WHY
end

--- Offers the fixes for the diagnostics on the span's lines; the only one there is goes straight to its preview.
---@param span lsp_harness.Span
function M.fix(span)
  local client = server.needed(server.client)
  if not client then
    return
  end
  if not client:supports_method('textDocument/codeAction', span.buf) then
    tell('this server offers no fixes', vim.log.levels.WARN)
    return
  end
  local found = diagnostics(span, client.offset_encoding)
  if #found == 0 then
    tell('no diagnostic here')
    return
  end
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(span.buf),
    range = spans.range(span, client.offset_encoding),
    context = {
      diagnostics = found,
      only = { 'quickfix' },
      triggerKind = vim.lsp.protocol.CodeActionTriggerKind.Invoked,
    },
  }
  work.request(client, 'Fix', 'textDocument/codeAction', params, span.buf, function(result)
    local actions = vim.iter(result or {}):filter(fixes):totable()
    if #actions == 0 then
      tell('no fix for what is here')
    elseif #actions == 1 then
      choose(client, span.buf, actions[1])
    else
      vim.ui.select(actions, {
        prompt = 'Fix:',
        kind = 'codeaction',
        format_item = function(action)
          return (action.title:gsub('%s+', ' '))
        end,
      }, function(action)
        if action then
          choose(client, span.buf, action)
        end
      end)
    end
  end)
end

return M
