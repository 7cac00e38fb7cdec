"""Names in code: where they are bound, how they are used, and which are unknown."""
