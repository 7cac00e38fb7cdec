"""Names in code: where they are bound, what they are used as and which are unknown."""
