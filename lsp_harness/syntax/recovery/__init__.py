"""Repairs of syntax errors: edits of one token after which a text parses again."""
