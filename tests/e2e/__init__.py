"""The whole thing: a server process, an engine process, a client."""
