"""The texts of files before a turn, and undo."""
