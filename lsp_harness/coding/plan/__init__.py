"""The first states of a prompt: what it asks for, and which symbols its edit changes."""
