"""Completions that are prepared before an editor asks, and those that are on their way."""
