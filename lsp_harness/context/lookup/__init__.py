"""Look-ups in code and in installed packages, for sources of context and other features."""
