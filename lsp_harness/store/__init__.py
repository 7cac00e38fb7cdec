"""SQLite files that can be made again: one process writes, many read."""
