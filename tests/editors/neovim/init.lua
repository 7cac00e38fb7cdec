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

require('lsp_harness').setup({
  debounce_ms = 1,
  rest_ms = 1,
  keymap = { accept = '<Tab>', accept_word = '<C-Right>', accept_line = '<C-Down>', dismiss = '<C-]>' },
})
