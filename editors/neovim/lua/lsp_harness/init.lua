--- The public functions of the plugin. The functions on ghost text return false when none is shown, so that a mapping
--- can pass its key on.

local M = {}

local group ---@type integer?

--- Return whether Neovim draws ghost text itself, which needs Neovim 0.12 and the option `native`.
---@return boolean
function M.native()
  return vim.lsp.inline_completion ~= nil and require('lsp_harness.config').native
end

--- Return the module that draws ghost text in this Neovim.
local function ghost_text()
  return require(M.native() and 'lsp_harness.native_ghost_text' or 'lsp_harness.ghost_text')
end

local function attach(buf, client)
  require('lsp_harness.fallback').wrap_client(client)
  ghost_text().attach(buf)
  require('lsp_harness.cursor_notification').attach(buf)
  require('lsp_harness.pause').sync_new_client(client)
  require('lsp_harness.forwarded_commands').request(client)
end

local function detach(buf, client)
  for _, other in ipairs(vim.lsp.get_clients({ bufnr = buf, name = client.name })) do
    if other.id ~= client.id then
      -- after a restart the old client may end when the new one is attached already
      return
    end
  end
  ghost_text().detach(buf)
  require('lsp_harness.cursor_notification').detach(buf)
end

--- Create the command, and start ghost text in every buffer that the client attaches to. `plugin/` calls this once.
function M.load()
  if group then
    return
  end
  group = vim.api.nvim_create_augroup('lsp_harness', {})
  local server = require('lsp_harness.server')
  local function if_our_client(callback)
    return function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == server.NAME then
        callback(event.buf, client)
      end
    end
  end
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = if_our_client(attach),
  })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = if_our_client(detach),
  })
  require('lsp_harness.status').watch_progress(group)
  require('lsp_harness.verdict').register_scheme(group)
  -- a plugin manager may load this plugin after the client has attached
  for _, buf in ipairs(server.buffers()) do
    local client = server.client(buf)
    if client then
      attach(buf, client)
    end
  end
  require('lsp_harness.view').define_highlight()
  require('lsp_harness.command').define()
end

--- Set options, map the keys in `keymap` and enable the server. Calling it is optional.
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

--- Map `key` in insert mode to one of the functions below. Without ghost text the key keeps its own meaning.
---@param name 'accept'|'accept_word'|'accept_line'|'dismiss'|'next'|'previous'|'suggest'
---@param key string
function M.map(name, key)
  local functions = {
    accept = true,
    accept_word = true,
    accept_line = true,
    dismiss = true,
    next = true,
    previous = true,
    suggest = true,
  }
  if not functions[name] then
    error(('lsp_harness: cannot map %s, there is no function %q'):format(key, name), 0)
  end
  vim.keymap.set('i', key, function()
    -- <Cmd> runs before keys that the user has typed ahead; a scheduled function would run after them
    local is_active = name == 'suggest' or M.visible()
    return is_active and ('<Cmd>lua require("lsp_harness").%s()<CR>'):format(name) or key
  end, { expr = true, desc = 'lsp-harness: ' .. name:gsub('_', ' ') })
end

--- Accept all of the ghost text.
---@return boolean accepted false if none is shown
function M.accept()
  return ghost_text().accept(require('lsp_harness.text').all)
end

--- Accept the next word of the ghost text.
---@return boolean accepted
function M.accept_word()
  return ghost_text().accept(require('lsp_harness.text').word)
end

--- Accept the rest of the line, or the next line if the ghost text starts with a line break.
---@return boolean accepted
function M.accept_line()
  return ghost_text().accept(require('lsp_harness.text').line)
end

--- Hide the ghost text and tell the server. The next key requests a new suggestion.
---@return boolean dismissed
function M.dismiss()
  return ghost_text().dismiss()
end

--- Show the next suggestion.
---@return boolean shown false if no ghost text is shown
function M.next()
  return ghost_text().cycle(1)
end

--- Show the previous suggestion.
---@return boolean shown
function M.previous()
  return ghost_text().cycle(-1)
end

--- Request a suggestion now, even during a pause.
---@return boolean requested
function M.suggest()
  return ghost_text().suggest()
end

--- Return whether ghost text is shown.
---@return boolean
function M.visible()
  return ghost_text().visible()
end

--- Pause ghost text until `resume`, in this Neovim or in all editor windows of the user. Everything else goes on.
---@param scope? 'here'|'everywhere' 'here' by default
function M.pause(scope)
  ghost_text().pause()
  require('lsp_harness.pause').pause(scope or 'here')
end

--- End the pause, also a pause of all windows.
function M.resume()
  ghost_text().resume()
  require('lsp_harness.pause').resume()
end

--- Return whether ghost text is paused in this Neovim.
---@return boolean
function M.paused()
  return ghost_text().paused()
end

--- Offer fixes for the diagnostics on the cursor's line or on the selected lines, and preview the chosen one.
function M.fix()
  require('lsp_harness.quick_fix').fix(require('lsp_harness.span').selection())
end

--- Edit the selection, or the code at the cursor, by an instruction.
---@param instruction? string the user is prompted if there is none
function M.edit(instruction)
  require('lsp_harness.edit_commands').edit(require('lsp_harness.span').selection(), instruction)
end

--- Explain the selection, or the code at the cursor.
function M.explain()
  if not require('lsp_harness.forwarded_commands').run('explain', require('lsp_harness.span').selection()) then
    require('lsp_harness.notify')('this server cannot explain code', vim.log.levels.WARN)
  end
end

--- Return one line about the model, the engine and the running work for the statusline, or '' if there is no server.
---@return string
function M.statusline()
  return require('lsp_harness.status').line()
end

return M
