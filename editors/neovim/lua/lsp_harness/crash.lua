--- Restarts a server that crashed, for the buffers it had. A server that crashes too often is not started again.

local config = require('lsp_harness.config')
local notify = require('lsp_harness.notify')

local M = {}

local MINUTE_MS = 60 * 1000
local SIGTERM = 15

---@type integer[] times of the restarts within the last minute, in milliseconds
local restart_times = {}

---@return boolean
local function restart_limit_reached()
  local now = vim.uv.now()
  restart_times = vim.tbl_filter(function(time)
    return now - time < MINUTE_MS
  end, restart_times)
  return #restart_times >= config.restarts
end

---@param client_config vim.lsp.ClientConfig
---@param buffers integer[]
local function start(client_config, buffers)
  for _, buf in ipairs(buffers) do
    if vim.api.nvim_buf_is_loaded(buf) then
      vim.lsp.start(client_config, { bufnr = buf })
    end
  end
end

--- The `on_exit` callback of the client.
---@param code integer
---@param signal integer
---@param client_id integer
function M.handle_exit(code, signal, client_id)
  local client = assert(vim.lsp.get_client_by_id(client_id))
  local buffers = vim.tbl_keys(client.attached_buffers)
  vim.schedule(function()
    require('lsp_harness.status').forget(client_id)
    require('lsp_harness.forwarded_commands').forget(client_id)
    local crashed = code ~= 0 or (signal ~= 0 and signal ~= SIGTERM)
    if not crashed or vim.v.exiting ~= vim.NIL then
      return
    end
    local cause = signal ~= 0 and ('by signal %d'):format(signal) or ('with exit code %d'):format(code)
    if restart_limit_reached() then
      notify(
        ('the server ended %s, and is not started again. See :LspHarness log, then :LspHarness restart'):format(cause),
        vim.log.levels.ERROR
      )
      return
    end
    restart_times[#restart_times + 1] = vim.uv.now()
    notify(('the server ended %s and is started again'):format(cause), vim.log.levels.WARN)
    -- Neovim removes the old client in this round of the event loop; the new one must start after that
    vim.schedule(function()
      local client_config = vim.tbl_extend('force', client.config, { settings = client.settings })
      start(client_config --[[@as vim.lsp.ClientConfig]], buffers)
    end)
  end)
end

return M
