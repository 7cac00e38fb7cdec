"""Child processes: starting, supervising and running tools with limits."""
