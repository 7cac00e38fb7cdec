"""The server as a process, driven over its wire."""
