--- Which model the server uses: choosing another, and getting one onto this machine.

local server = require('lsp_harness.server')
local tell = require('lsp_harness.tell')
local work = require('lsp_harness.work')

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
function M.describe(model)
  local facts = { model.licence }
  if type(model.bytes) == 'number' then
    table.insert(facts, 1, ('%.1f GB'):format(model.bytes / 1e9))
  end
  if model.current then
    facts[#facts + 1] = 'in use'
  elseif not model.present then
    facts[#facts + 1] = 'not here yet'
  end
  return ('%s (%s)'):format(model.name, table.concat(facts, ', '))
end

--- Makes it the setting of every client of ours, and of those that are started in this Neovim later.
---@param name string
function M.use(name)
  local settings = { lspHarness = { model = { path = name } } }
  vim.lsp.config(server.NAME, { settings = settings })
  for _, client in ipairs(server.all()) do
    client.settings = vim.tbl_deep_extend('force', client.settings or {}, settings)
    client:notify('workspace/didChangeConfiguration', { settings = client.settings })
  end
  tell(('%s, until Neovim ends. To keep it, set lspHarness.model.path in your init.lua'):format(name))
end

--- Gets a model onto this machine.
---@param name string
---@param done? fun()
function M.pull(name, done)
  local client = server.needed(server.any)
  if client then
    tell(('getting %s; :LspHarness cancel ends it'):format(name))
    work.execute(client, 'Pull ' .. name, server.PULL, { name }, function(result)
      tell(('%s is here: %s'):format(result.name or name, result.path))
      if done then
        done()
      end
    end)
  end
end

---@param wanted fun(model: lsp_harness.Model): boolean
---@param prompt string
---@param chosen fun(model: lsp_harness.Model)
local function select(wanted, prompt, chosen)
  local client = server.needed(server.any)
  if not client then
    return
  end
  work.execute(client, 'Models', server.MODELS, {}, function(result)
    local models = vim.tbl_filter(wanted, result)
    if #models == 0 then
      tell('there is none')
      return
    end
    vim.ui.select(models, { prompt = prompt, format_item = M.describe }, function(model)
      if model then
        chosen(model)
      end
    end)
  end)
end

--- Offers the models there are to write with; one that is not here is got first.
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

--- Offers what is not here yet.
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
