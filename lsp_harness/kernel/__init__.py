"""The session kernel: the append-only log, turns, tasks, and the checkpoints for undo."""
