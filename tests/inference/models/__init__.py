"""Model files: pulling, placing, reading."""
