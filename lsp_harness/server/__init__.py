"""The Language Server Protocol surface; nothing below knows the protocol."""
