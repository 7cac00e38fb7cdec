"""The commands about foreign agents, `lspHarness.runtime.…`."""
