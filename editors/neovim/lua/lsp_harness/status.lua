--- How the servers are: what `lspHarness/status` says, and what is under way. For the statusline.

local server = require('lsp_harness.server')
local work = require('lsp_harness.work')

---@class lsp_harness.Status as the protocol has it, see docs/lsp-extensions.md
---@field engine 'off'|'starting'|'ready'|'busy'|'failed'
---@field model? string
---@field message? string
---@field paused false|'here'|'everywhere'
---@field trusted boolean
---@field last? { prompt_tokens: integer, reused: integer, cached?: boolean }

local M = {}

---@type table<integer, lsp_harness.Status>
local known = {}

local function changed()
  vim.api.nvim_exec_autocmds('User', { pattern = 'LspHarnessStatus', modeline = false })
  vim.cmd.redrawstatus({ bang = true })
end

--- Handler of `lspHarness/status`.
---@param params lsp_harness.Status
---@param ctx lsp.HandlerContext
function M.received(_, params, ctx)
  for name, value in pairs(params) do
    -- a null would count as true
    if value == vim.NIL then
      params[name] = nil
    end
  end
  known[ctx.client_id] = params
  changed()
end

function M.listen(group)
  vim.api.nvim_create_autocmd('LspProgress', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == server.NAME then
        work.progress(client.id, event.data.params)
        changed()
      end
    end,
  })
end

---@param client_id integer
function M.forget(client_id)
  known[client_id] = nil
  work.forget(client_id)
  changed()
end

--- What the server said last; nil from one that does not say.
---@param client_id integer
---@return lsp_harness.Status?
function M.of(client_id)
  return known[client_id]
end

--- A percent sign would be an item of the statusline.
---@param said string
---@return string
local function plain(said)
  return (said:gsub('%s*%%', ' of 100'):gsub('%c', ' '))
end

---@param running lsp_harness.Work
---@return string
local function progress(running)
  local said = running.title
  if running.message and running.message ~= '' then
    said = said .. ': ' .. running.message
  end
  if running.percentage then
    said = ('%s (%d of 100)'):format(said, running.percentage)
  end
  return said
end

--- One line for the statusline, '' where no server of ours is.
---@return string
function M.line()
  local client = server.any(vim.api.nvim_get_current_buf())
  if not client then
    return ''
  end
  local status = known[client.id]
  local parts = { 'lsp-harness' }
  if status then
    local model = status.model and vim.fs.basename(status.model) or 'lsp-harness'
    parts = { ('%s %s'):format(model, status.engine) }
    local last = status.last
    if last and last.cached then
      parts[#parts + 1] = 'known answer'
    elseif last and last.prompt_tokens and last.reused then
      parts[#parts + 1] = ('%d/%d reused'):format(last.reused, last.prompt_tokens)
    end
    if status.trusted == false then
      parts[#parts + 1] = 'not trusted'
    end
  end
  local paused = status and status.paused or require('lsp_harness').paused() and 'here'
  if paused then
    parts[#parts + 1] = paused == 'everywhere' and 'paused everywhere' or 'paused'
  end
  local running = work.current(client.id)
  if running then
    parts[#parts + 1] = progress(running)
  end
  return plain(table.concat(parts, ', '))
end

return M
