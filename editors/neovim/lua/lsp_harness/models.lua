--- Chooses the model that the server uses, and downloads models.

local commands = require('lsp_harness.server_commands')
local notify = require('lsp_harness.notify')
local requests = require('lsp_harness.requests')
local server = require('lsp_harness.server')

---@class lsp_harness.Model
---@field name string
---@field bytes? integer
---@field licence string
---@field present boolean
---@field current boolean
---@field kind 'completion'|'embedding'

local M = {}

---@param model lsp_harness.Model
---@return string
local function describe(model)
  local facts = { model.licence }
  if type(model.bytes) == 'number' then
    table.insert(facts, 1, ('%.1f GB'):format(model.bytes / 1e9))
  end
  if model.current then
    facts[#facts + 1] = 'in use'
  elseif not model.present then
    facts[#facts + 1] = 'not downloaded'
  end
  return ('%s (%s)'):format(model.name, table.concat(facts, ', '))
end

--- Set the model for every running client, and for clients that this Neovim starts later.
---@param name string
function M.use(name)
  local settings = { lspHarness = { model = { path = name } } }
  vim.lsp.config(server.NAME, { settings = settings })
  for _, client in ipairs(server.clients()) do
    client.settings = vim.tbl_deep_extend('force', client.settings or {}, settings)
    client:notify('workspace/didChangeConfiguration', { settings = client.settings })
  end
  notify(('%s is used until Neovim ends. To keep it, set lspHarness.model.path in your init.lua'):format(name))
end

--- Download a model.
---@param name string
---@param on_done? fun()
function M.pull(name, on_done)
  local client = server.require_client(server.any_client)
  if client then
    notify(('downloading %s; :LspHarness cancel stops it'):format(name))
    requests.execute(client, 'Pull ' .. name, commands.pullModel, { name }, function(result)
      notify(('%s is downloaded: %s'):format(result.name or name, result.path))
      if on_done then
        on_done()
      end
    end)
  end
end

--- Let the user select one of the models for which `filter` returns true.
---@param filter fun(model: lsp_harness.Model): boolean
---@param prompt string
---@param on_choice fun(model: lsp_harness.Model)
local function select(filter, prompt, on_choice)
  local client = server.require_client(server.any_client)
  if not client then
    return
  end
  requests.execute(client, 'Models', commands.models, {}, function(result)
    local models = vim.tbl_filter(filter, result)
    if #models == 0 then
      notify('there is no model to choose')
      return
    end
    vim.ui.select(models, { prompt = prompt, format_item = describe }, function(model)
      if model then
        on_choice(model)
      end
    end)
  end)
end

--- Let the user choose a completion model. The model is downloaded first if necessary.
function M.choose()
  select(
    function(model)
      return model.kind == 'completion'
    end,
    'Model:',
    function(model)
      if model.present then
        M.use(model.name)
      else
        M.pull(model.name, function()
          M.use(model.name)
        end)
      end
    end
  )
end

--- Let the user choose a model to download.
function M.choose_to_pull()
  select(
    function(model)
      return not model.present
    end,
    'Pull:',
    function(model)
      M.pull(model.name)
    end
  )
end

return M
