"""Removal of code that nothing uses."""
