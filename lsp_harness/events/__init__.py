"""The events of a session: one frozen class for each type, and their form in the log."""
