"""The log of a session: one writer, any number of readers."""
