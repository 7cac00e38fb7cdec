"""Searches over an index: by name, by words, by meaning and by likeness."""
