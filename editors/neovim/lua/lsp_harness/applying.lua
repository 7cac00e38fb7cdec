--- Every edit of the server's takes this way into the user's text: worked out, shown where that is wanted, made or not.

local config = require('lsp_harness.config')
local plans = require('lsp_harness.plan')
local preview = require('lsp_harness.preview')
local tell = require('lsp_harness.tell')

local M = {}

--- Says which files were changed that nobody sees, since nothing is saved here.
---@param plan lsp_harness.Plan
local function elsewhere(plan)
  local names = {}
  for _, each in ipairs(plan.changes) do
    local buf = vim.uri_to_bufnr(each.uri)
    if each.after and #vim.fn.win_findbuf(buf) == 0 then
      names[#names + 1] = each.name
    end
  end
  if #names > 0 then
    tell(('also changed, in no window and not saved: %s'):format(table.concat(names, ', ')))
  end
end

--- Makes `edit`, after the user has seen and wanted it when `ask`.
---@param edit lsp.WorkspaceEdit
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@param title string unless the edit has a verdict, which is its annotations' label
---@param ask 'always'|'annotated'
---@param done fun(applied: boolean, problem?: string)
function M.make(edit, encoding, title, ask, done)
  local plan, problem = plans.of(edit, encoding)
  if not plan then
    done(false, problem)
    return
  end
  local diff = plans.diff(plan)
  if #diff == 0 then
    done(false, 'nothing would change')
    return
  end
  local function make(yes)
    if not yes then
      done(false, 'rejected')
      return
    end
    local applied, failure = plans.apply(plan)
    if applied then
      elsewhere(plan)
    end
    done(applied, failure)
  end
  if config.preview and (ask == 'always' or plan.confirm) then
    if #plan.labels > 0 then
      title = table.concat(plan.labels, '; ')
    end
    preview.show(diff, title, make)
  else
    make(true)
  end
end

--- Handler of `workspace/applyEdit`. Neovim runs it in a coroutine and answers when that ends.
---@param params lsp.ApplyWorkspaceEditParams
---@param ctx lsp.HandlerContext
---@return lsp.ApplyWorkspaceEditResult
function M.requested(_, params, ctx)
  local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
  local waiting = coroutine.running()
  ---@type lsp.ApplyWorkspaceEditResult?
  local answer
  local asleep = false
  M.make(params.edit, client.offset_encoding, params.label or 'Edit', 'annotated', function(applied, problem)
    answer = { applied = applied, failureReason = problem }
    if asleep then
      assert(coroutine.resume(waiting))
    end
  end)
  if not answer then
    asleep = true
    coroutine.yield()
  end
  return answer --[[@as lsp.ApplyWorkspaceEditResult]]
end

return M
