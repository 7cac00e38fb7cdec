"""Generators of edits of one token: one file a kind of token."""
