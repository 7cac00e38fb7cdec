--- The commands of the server. Generated from lsp_harness/server/commands by `make docs`; do not edit.

---@class lsp_harness.ForwardedCommand a subcommand that needs no code of its own
---@field command string the name in the protocol
---@field handler 'text'|'edit' how the result is shown
---@field title string names the command in messages
---@field sends_selection boolean whether the argument is a place in the text

local M = {}

--- The names in the protocol.
M.names = {
  accepted = 'lspHarness.accepted',
  applied = 'lspHarness.applied',
  context = 'lspHarness.context',
  dismissed = 'lspHarness.dismissed',
  docstring = 'lspHarness.docstring',
  explain = 'lspHarness.explain',
  fix = 'lspHarness.fix',
  instruct = 'lspHarness.instruct',
  locate = 'lspHarness.locate',
  models = 'lspHarness.models',
  pause = 'lspHarness.pause',
  pullModel = 'lspHarness.pullModel',
  restartEngine = 'lspHarness.restartEngine',
  statistics = 'lspHarness.statistics',
  status = 'lspHarness.status',
  tests = 'lspHarness.tests',
  why = 'lspHarness.why',
}

--- The subcommands of `:LspHarness` that only send a command and show its result.
---@type table<string, lsp_harness.ForwardedCommand>
M.forwarded = {
  context = {
    command = 'lspHarness.context',
    handler = 'text',
    title = 'Context',
    sends_selection = true,
  },
  docstring = {
    command = 'lspHarness.docstring',
    handler = 'edit',
    title = 'Docstring',
    sends_selection = true,
  },
  explain = {
    command = 'lspHarness.explain',
    handler = 'text',
    title = 'Explanation',
    sends_selection = true,
  },
  tests = {
    command = 'lspHarness.tests',
    handler = 'edit',
    title = 'Tests',
    sends_selection = true,
  },
}

return M
