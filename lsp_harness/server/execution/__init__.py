"""Execution of commands and quick fixes: the description and the arguments of commands, and the edits that they apply."""
