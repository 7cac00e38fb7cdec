"""Long pieces of work of a session: tests, commands and subagents."""
