"""The event envelope that every surface encodes."""
