"""The start and the end of a connection, and the control of running requests."""
