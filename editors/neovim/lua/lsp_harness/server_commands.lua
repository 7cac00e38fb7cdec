--- The names in the protocol of the server's commands that this plugin uses by name. `forwarded_commands` has the
--- others.

return {
  agentRun = 'lspHarness.agent.run',
  commands = 'lspHarness.commands',
  dismissed = 'lspHarness.dismissed',
  instruct = 'lspHarness.instruct',
  locate = 'lspHarness.locate',
  models = 'lspHarness.models',
  pause = 'lspHarness.pause',
  pullModel = 'lspHarness.pullModel',
  restartEngine = 'lspHarness.restartEngine',
  statistics = 'lspHarness.statistics',
  status = 'lspHarness.status',
  why = 'lspHarness.why',
}
