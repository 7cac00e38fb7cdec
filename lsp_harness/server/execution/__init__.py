"""Execution of commands and quick fixes: the registry of the commands, their arguments, and the edits that they apply."""
