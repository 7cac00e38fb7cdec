"""The state of a session as pure functions of its events."""
