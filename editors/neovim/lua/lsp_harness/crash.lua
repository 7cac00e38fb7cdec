--- A server that ends without having been asked to is started again, for the buffers it had; but not for ever.

local config = require('lsp_harness.config')
local tell = require('lsp_harness.tell')

local M = {}

local MINUTE = 60 * 1000
local TERMINATED = 15

---@type integer[] when one was started again, in milliseconds
local restarts = {}

---@return boolean
local function often()
  local now = vim.uv.now()
  restarts = vim.tbl_filter(function(at)
    return now - at < MINUTE
  end, restarts)
  return #restarts >= config.restarts
end

---@param client_config vim.lsp.ClientConfig
---@param bufs integer[]
local function start(client_config, bufs)
  for _, buf in ipairs(bufs) do
    if vim.api.nvim_buf_is_loaded(buf) then
      vim.lsp.start(client_config, { bufnr = buf })
    end
  end
end

--- `on_exit` of the client.
---@param code integer
---@param signal integer
---@param client_id integer
function M.exited(code, signal, client_id)
  local client = assert(vim.lsp.get_client_by_id(client_id))
  local bufs = vim.tbl_keys(client.attached_buffers)
  vim.schedule(function()
    require('lsp_harness.status').forget(client_id)
    local crashed = code ~= 0 or (signal ~= 0 and signal ~= TERMINATED)
    if not crashed or vim.v.exiting ~= vim.NIL then
      return
    end
    local how = signal ~= 0 and ('by signal %d'):format(signal) or ('with exit code %d'):format(code)
    if often() then
      tell(
        ('the server ended %s, and is not started again. See :LspHarness log, then :LspHarness restart'):format(how),
        vim.log.levels.ERROR
      )
      return
    end
    restarts[#restarts + 1] = vim.uv.now()
    tell(('the server ended %s and is started again'):format(how), vim.log.levels.WARN)
    -- once Neovim has forgotten the old one, which it does in this round of events
    vim.schedule(function()
      local same = vim.tbl_extend('force', client.config, { settings = client.settings })
      start(same --[[@as vim.lsp.ClientConfig]], bufs)
    end)
  end)
end

return M
