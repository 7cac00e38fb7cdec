"""Servers that somebody else runs."""
