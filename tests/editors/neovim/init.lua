-- What a user's init.lua would have, with a server and a log for tests.

local before = vim.env.TEST_BEFORE
if before then
  assert(loadstring(before))()
end

-- looking for a Python host takes a second, which ftplugin/python.vim asks for
vim.g.loaded_python3_provider = 0

_G.events = {}
vim.lsp.handlers['fake/log'] = function(_, event)
  table.insert(_G.events, event)
end

--- Whether the server told of an event with these facts.
function _G.seen(facts)
  return vim.iter(_G.events):any(function(event)
    return vim.deep_equal(vim.tbl_extend('force', event, facts), event)
  end)
end

vim.lsp.config('lsp_harness', { cmd = vim.json.decode(vim.env.TEST_SERVER) })

--- What a user calls, here with the options a test has put ahead.
function _G.setup()
  require('lsp_harness').setup(vim.tbl_extend('force', {
    debounce_ms = 1,
    rest_ms = 1,
    keymap = {
      accept = '<Tab>',
      accept_word = '<C-Right>',
      accept_line = '<C-Down>',
      dismiss = '<C-]>',
      next = '<M-]>',
      previous = '<M-[>',
      suggest = '<M-s>',
    },
  }, _G.options or {}))
end

if _G.late then
  -- the package is found before this file is read
  vim.opt.runtimepath:remove(vim.fn.stdpath('data') .. '/site/pack/*/start/*')
  vim.opt.packpath:remove(vim.fn.stdpath('data') .. '/site')
else
  setup()
end

--- The process of the server that said hello last.
function _G.seen_pid()
  local pid
  for _, event in ipairs(_G.events) do
    pid = event.event == 'hello' and event.pid or pid
  end
  return pid
end

--- The first line of what is shown, as one text.
function _G.ghost_text()
  local space = require('lsp_harness.view').namespace
  local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
  local said = {}
  for _, mark in ipairs(marks) do
    for _, chunk in ipairs(mark[4].virt_text or {}) do
      said[#said + 1] = chunk[1]
    end
  end
  return table.concat(said)
end
