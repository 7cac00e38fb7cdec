--- Shows what an edit would do, and asks. The window is an ordinary one: it can be scrolled, searched and yanked from.

local config = require('lsp_harness.config')
local tell = require('lsp_harness.tell')

local M = {}

local YES = { '<CR>', 'y' }
local NO = { 'q', 'n', '<Esc>' }

---@param buf integer
---@param shown string[]
---@param title string
---@return integer window
local function float(buf, shown, title)
  local width = vim.fn.strdisplaywidth(title) + 4
  for _, line in ipairs(shown) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 1)
  end
  width = math.max(30, math.min(width, vim.o.columns - 4))
  local height = math.max(1, math.min(#shown, vim.o.lines - 6))
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
local function tab(buf, title)
  vim.cmd('tab split')
  local window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(window, buf)
  vim.wo[window].winbar = (title .. '   <CR> or y: apply   q or n: leave it'):gsub('%%', '%%%%')
  return window
end

---@param shown string[] a diff
---@param title string
---@param decided fun(yes: boolean) called once, however the window is left
local function open(shown, title, decided)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, shown)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local window = config.preview == 'tab' and tab(buf, title) or float(buf, shown, title)
  vim.bo[buf].filetype = 'diff'
  vim.wo[window].wrap = false
  local over = false
  local function decide(yes)
    if over then
      return
    end
    over = true
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    decided(yes)
  end
  for answer, keys in pairs({ [true] = YES, [false] = NO }) do
    for _, key in ipairs(keys) do
      vim.keymap.set('n', key, function()
        decide(answer)
      end, { buffer = buf, nowait = true, desc = answer and 'lsp-harness: apply' or 'lsp-harness: leave it' })
    end
  end
  vim.api.nvim_create_autocmd('BufWinLeave', {
    buffer = buf,
    once = true,
    -- the window is still being closed
    callback = vim.schedule_wrap(function()
      decide(false)
    end),
  })
end

--- Opens the window, when the user is in normal mode: a key that is being typed must not answer a question that was not
--- there when the finger moved.
---@param shown string[]
---@param title string
---@param decided fun(yes: boolean)
function M.show(shown, title, decided)
  if vim.api.nvim_get_mode().mode == 'n' then
    open(shown, title, decided)
    return
  end
  tell('an edit is ready and is shown when you are back in normal mode')
  vim.api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n',
    once = true,
    callback = vim.schedule_wrap(function()
      M.show(shown, title, decided)
    end),
  })
end

return M
