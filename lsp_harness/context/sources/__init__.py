"""Sources of context: each finds code or documentation that a prompt may quote."""
