"""Documents, positions and edits: bytes in, bytes out, no protocol and no I/O."""
