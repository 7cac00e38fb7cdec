"""Verified edits: fixes of findings, edits that the user asks for, and what became of them."""
