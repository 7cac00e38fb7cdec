"""The declarations and imports of a text, and the uses of their names."""
