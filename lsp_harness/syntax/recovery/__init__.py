"""Repair of syntax errors by edits of one token, after which the text parses again."""
