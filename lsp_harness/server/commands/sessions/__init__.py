"""The commands about sessions, one module each. The first word of a module is the second part of its name."""
