--- Shows the diff of an edit and asks whether to apply it. The window is an ordinary one: the user can scroll, search
--- and yank in it.

local config = require('lsp_harness.config')
local notify = require('lsp_harness.notify')

local M = {}

local ACCEPT_KEYS = { '<CR>', 'y' }
local REJECT_KEYS = { 'q', 'n', '<Esc>' }
local MIN_WIDTH = 30

---@param buf integer
---@param diff string[]
---@param title string
---@return integer window
local function open_float(buf, diff, title)
  local width = vim.fn.strdisplaywidth(title) + 4
  for _, line in ipairs(diff) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 1)
  end
  width = math.max(MIN_WIDTH, math.min(width, vim.o.columns - 4))
  local height = math.max(1, math.min(#diff, vim.o.lines - 6))
  return vim.api.nvim_open_win(buf, true, {
    relative = 'editor',
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(title),
    footer = ' <CR> or y: apply   q or n: leave it ',
    footer_pos = 'right',
  })
end

---@param buf integer
---@param title string
---@return integer window
local function open_tab(buf, title)
  vim.cmd('tab split')
  local window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(window, buf)
  vim.wo[window].winbar = (title .. '   <CR> or y: apply   q or n: leave it'):gsub('%%', '%%%%')
  return window
end

---@param diff string[]
---@param title string
---@param on_answer fun(accepted: boolean) called once, however the window is closed
local function open(diff, title, on_answer)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, diff)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local window = config.preview == 'tab' and open_tab(buf, title) or open_float(buf, diff, title)
  vim.bo[buf].filetype = 'diff'
  vim.wo[window].wrap = false
  local is_answered = false
  local function answer(accepted)
    if is_answered then
      return
    end
    is_answered = true
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    on_answer(accepted)
  end
  for accepted, keys in pairs({ [true] = ACCEPT_KEYS, [false] = REJECT_KEYS }) do
    for _, key in ipairs(keys) do
      vim.keymap.set('n', key, function()
        answer(accepted)
      end, { buffer = buf, nowait = true, desc = accepted and 'lsp-harness: apply' or 'lsp-harness: leave it' })
    end
  end
  vim.api.nvim_create_autocmd('BufWinLeave', {
    buffer = buf,
    once = true,
    -- scheduled because the window is still open during the event
    callback = vim.schedule_wrap(function()
      answer(false)
    end),
  })
end

--- Open the preview as soon as the user is in normal mode. A key that the user is typing must not answer a question
--- that has just appeared.
---@param diff string[]
---@param title string
---@param on_answer fun(accepted: boolean)
function M.show(diff, title, on_answer)
  if vim.api.nvim_get_mode().mode == 'n' then
    open(diff, title, on_answer)
    return
  end
  notify('an edit is ready; it is shown when you return to normal mode')
  vim.api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n',
    once = true,
    callback = vim.schedule_wrap(function()
      M.show(diff, title, on_answer)
    end),
  })
end

return M
