"""Rules that refuse signs which parse, but which no program has at that place."""
