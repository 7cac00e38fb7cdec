--- What the rest of Neovim may call. Everything that can be asked of ghost text answers false when none is shown, so
--- that a mapping can send its key on.

local M = {}

local group ---@type integer?

--- Whether Neovim draws ghost text itself: it can, and nobody minds.
---@return boolean
function M.native()
  return vim.lsp.inline_completion ~= nil and require('lsp_harness.config').native
end

local function engine()
  return require(M.native() and 'lsp_harness.native' or 'lsp_harness.ghost')
end

local function attach(buf, client)
  require('lsp_harness.fallback').yield(client)
  engine().attach(buf)
  require('lsp_harness.rest').attach(buf)
  require('lsp_harness.pausing').catch_up(client)
end

local function detach(buf, client)
  for _, other in ipairs(vim.lsp.get_clients({ bufnr = buf, name = client.name })) do
    if other.id ~= client.id then
      -- the server was restarted, and the old one took its time
      return
    end
  end
  engine().detach(buf)
  require('lsp_harness.rest').detach(buf)
end

--- Called once by `plugin/`: the command, and ghost text wherever the client attaches.
function M.load()
  if group then
    return
  end
  group = vim.api.nvim_create_augroup('lsp_harness', {})
  local server = require('lsp_harness.server')
  local function ours(callback)
    return function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == server.NAME then
        callback(event.buf, client)
      end
    end
  end
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = ours(attach),
  })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = ours(detach),
  })
  require('lsp_harness.status').listen(group)
  require('lsp_harness.verdict').listen(group)
  -- a plugin manager may load us after the client
  for _, buf in ipairs(server.buffers()) do
    local client = server.client(buf)
    if client then
      attach(buf, client)
    end
  end
  require('lsp_harness.view').highlight()
  require('lsp_harness.command').create()
end

--- Optional: sets options, maps the keys they name and enables the server.
---@param options? lsp_harness.Config
function M.setup(options)
  local config = require('lsp_harness.config')
  config.set(options)
  M.load()
  for name, key in pairs(config.keymap or {}) do
    M.map(name, key)
  end
  if config.enable then
    vim.lsp.enable(require('lsp_harness.server').NAME)
  end
end

--- Maps `key` in insert mode to one of the verbs below; without ghost text it stays the key it is.
---@param name 'accept'|'accept_word'|'accept_line'|'dismiss'|'next'|'previous'|'suggest'
---@param key string
function M.map(name, key)
  local verbs = {
    accept = true,
    accept_word = true,
    accept_line = true,
    dismiss = true,
    next = true,
    previous = true,
    suggest = true,
  }
  if not verbs[name] then
    error(('lsp_harness: there is nothing called %q to map %s to'):format(name, key), 0)
  end
  vim.keymap.set('i', key, function()
    -- a <Cmd> keeps its place among keys typed ahead, which a scheduled function would not
    local meant = name == 'suggest' or M.visible()
    return meant and ('<Cmd>lua require("lsp_harness").%s()<CR>'):format(name) or key
  end, { expr = true, desc = 'lsp-harness: ' .. name:gsub('_', ' ') })
end

--- Takes all of the ghost text.
---@return boolean taken false when none is shown
function M.accept()
  return engine().accept(require('lsp_harness.text').all)
end

--- Takes its next word.
---@return boolean taken
function M.accept_word()
  return engine().accept(require('lsp_harness.text').word)
end

--- Takes the rest of its line, or the next line when it starts with a line break.
---@return boolean taken
function M.accept_line()
  return engine().accept(require('lsp_harness.text').line)
end

--- Takes it off the screen. The next key asks again.
---@return boolean dismissed
function M.dismiss()
  return engine().dismiss()
end

--- Shows another suggestion in its place.
---@return boolean shown false when there is none to replace
function M.next()
  return engine().cycle(1)
end

---@return boolean shown
function M.previous()
  return engine().cycle(-1)
end

--- Asks for a suggestion now, paused or not.
---@return boolean asked
function M.suggest()
  return engine().suggest()
end

---@return boolean
function M.visible()
  return engine().visible()
end

--- Stops asking until `resume`: in this Neovim, or in every editor window of this user. Nothing else stops.
---@param scope? 'here'|'everywhere'
function M.pause(scope)
  engine().pause()
  require('lsp_harness.pausing').pause(scope or 'here')
end

function M.resume()
  engine().resume()
  require('lsp_harness.pausing').resume()
end

---@return boolean
function M.paused()
  return engine().paused()
end

--- Offers fixes for the diagnostics on the cursor's line, or on those selected, and shows one before it is applied.
function M.fix()
  require('lsp_harness.fixing').fix(require('lsp_harness.span').selection())
end

--- Edits what is selected, or where the cursor is, by an instruction.
---@param instruction? string without one you are asked
function M.edit(instruction)
  require('lsp_harness.instructing').edit(require('lsp_harness.span').selection(), instruction)
end

--- Explains what is selected, or where the cursor is.
function M.explain()
  require('lsp_harness.instructing').explain(require('lsp_harness.span').selection())
end

--- One line about model, engine and what is under way, for the statusline. '' where there is no server.
---@return string
function M.statusline()
  return require('lsp_harness.status').line()
end

return M
