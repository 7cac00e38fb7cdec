"""Completions that are prepared before an editor asks for them, and answers in flight."""
