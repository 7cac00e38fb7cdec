"""Symbols of the workspace, found by name or from a place in a text."""
