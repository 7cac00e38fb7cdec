"""Execution of commands and quick fixes: the description, the arguments and the edits of commands."""
