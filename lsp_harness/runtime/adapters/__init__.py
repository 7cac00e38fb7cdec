"""The kinds of agents, one module each."""
