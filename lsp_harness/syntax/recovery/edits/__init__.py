"""Generators of edits of one token. Each module has the edits for one kind of token."""
