"""The commands that run and show sessions."""
