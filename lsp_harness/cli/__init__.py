"""The command line, and the place where all parts are joined."""
