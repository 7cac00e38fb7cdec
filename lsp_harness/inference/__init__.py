"""The model: its files, the engine process that runs it, and the client that talks to it."""
