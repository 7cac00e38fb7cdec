"""Sessions that are killed at any point."""
