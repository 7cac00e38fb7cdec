--- Applies the workspace edits of the server: computes the result, shows a preview if one is wanted, and applies the
--- edit if the user accepts it.

local config = require('lsp_harness.config')
local edit_plan = require('lsp_harness.edit_plan')
local notify = require('lsp_harness.notify')
local preview = require('lsp_harness.preview')

local M = {}

--- Name the changed files that no window shows, because nothing is saved here.
---@param plan lsp_harness.Plan
local function report_hidden_changes(plan)
  local names = {}
  for _, change in ipairs(plan.changes) do
    local buf = vim.uri_to_bufnr(change.uri)
    if change.after and #vim.fn.win_findbuf(buf) == 0 then
      names[#names + 1] = change.name
    end
  end
  if #names > 0 then
    notify(('also changed, in no window and not saved: %s'):format(table.concat(names, ', ')))
  end
end

--- Apply `edit`, after a preview where `confirm` and the user's configuration ask for one.
---@param edit lsp.WorkspaceEdit
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@param title string title of the preview, if the edit has no annotation; the label of an annotation is the verdict
---@param confirm 'always'|'annotated' whether every edit is previewed, or only one whose annotation asks for it
---@param on_done fun(applied: boolean, problem?: string)
function M.apply(edit, encoding, title, confirm, on_done)
  local plan, problem = edit_plan.new(edit, encoding)
  if not plan then
    on_done(false, problem)
    return
  end
  local diff = edit_plan.diff(plan)
  if #diff == 0 then
    on_done(false, 'the edit would change nothing')
    return
  end
  local function finish(accepted)
    if not accepted then
      on_done(false, 'rejected')
      return
    end
    local applied, failure = edit_plan.apply(plan)
    if applied then
      report_hidden_changes(plan)
    end
    on_done(applied, failure)
  end
  if config.preview and (confirm == 'always' or plan.confirm) then
    if #plan.labels > 0 then
      title = table.concat(plan.labels, '; ')
    end
    preview.show(diff, title, finish)
  else
    finish(true)
  end
end

--- Handler of `workspace/applyEdit`. Neovim runs it in a coroutine and sends the answer when the coroutine ends.
---@param params lsp.ApplyWorkspaceEditParams
---@param ctx lsp.HandlerContext
---@return lsp.ApplyWorkspaceEditResult
function M.handle_request(_, params, ctx)
  local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
  local handler = coroutine.running()
  ---@type lsp.ApplyWorkspaceEditResult?
  local answer
  local is_suspended = false
  M.apply(params.edit, client.offset_encoding, params.label or 'Edit', 'annotated', function(applied, problem)
    answer = { applied = applied, failureReason = problem }
    if is_suspended then
      assert(coroutine.resume(handler))
    end
  end)
  if not answer then
    is_suspended = true
    coroutine.yield()
  end
  return answer --[[@as lsp.ApplyWorkspaceEditResult]]
end

return M
