"""The state of a session, as folds over its events."""
