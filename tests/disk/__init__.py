"""Opening and replacing files by name."""
