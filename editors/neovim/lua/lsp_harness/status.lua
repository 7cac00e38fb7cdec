--- The state of the servers, from `lspHarness/status` notifications and from progress, as one line for the statusline.

local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')

---@class lsp_harness.Status the parameters of `lspHarness/status`, see docs/lsp-extensions.md
---@field engine 'off'|'starting'|'ready'|'busy'|'failed'
---@field model? string
---@field message? string
---@field paused false|'here'|'everywhere'
---@field trusted boolean
---@field last? { prompt_tokens: integer, reused: integer, cached?: boolean }

local M = {}

---@type table<integer, lsp_harness.Status>
local status_by_client = {}

local function redraw()
  vim.api.nvim_exec_autocmds('User', { pattern = 'LspHarnessStatus', modeline = false })
  vim.cmd.redrawstatus({ bang = true })
end

--- Handler of `lspHarness/status`.
---@param params lsp_harness.Status
---@param ctx lsp.HandlerContext
function M.handle_notification(_, params, ctx)
  for name, value in pairs(params) do
    -- vim.NIL, a JSON null, would count as true
    if value == vim.NIL then
      params[name] = nil
    end
  end
  status_by_client[ctx.client_id] = params
  redraw()
end

--- Record the progress of our servers from now on.
---@param group integer autocommand group
function M.watch_progress(group)
  vim.api.nvim_create_autocmd('LspProgress', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == server.NAME then
        requests.record_progress(client.id, event.data.params)
        redraw()
      end
    end,
  })
end

--- Forget a client that has ended.
---@param client_id integer
function M.forget(client_id)
  status_by_client[client_id] = nil
  requests.forget(client_id)
  redraw()
end

--- Return the last status of a client, or nil if its server has sent none.
---@param client_id integer
---@return lsp_harness.Status?
function M.get(client_id)
  return status_by_client[client_id]
end

--- Replace percent signs, which start items of the statusline, and control characters.
---@param text string
---@return string
local function escape(text)
  return (text:gsub('%s*%%', ' of 100'):gsub('%c', ' '))
end

---@param progress lsp_harness.Progress
---@return string
local function describe_progress(progress)
  local text = progress.title
  if progress.message and progress.message ~= '' then
    text = text .. ': ' .. progress.message
  end
  if progress.percentage then
    text = ('%s (%d of 100)'):format(text, progress.percentage)
  end
  return text
end

--- Return one line for the statusline, or '' if there is no server.
---@return string
function M.line()
  local client = server.any_client(vim.api.nvim_get_current_buf())
  if not client then
    return ''
  end
  local status = status_by_client[client.id]
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
  local progress = requests.current_progress(client.id)
  if progress then
    parts[#parts + 1] = describe_progress(progress)
  end
  return escape(table.concat(parts, ', '))
end

return M
