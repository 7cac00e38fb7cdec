"""The state of a session is a fold over its events."""
