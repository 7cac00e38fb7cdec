"""The state of an agent, found from several sources of different reliability."""
