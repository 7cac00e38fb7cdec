"""SQLite databases that can be created again at any time: one process writes, many read."""
