"""The permission gate: one check before every side effect."""
