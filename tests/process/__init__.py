"""Child processes: with an end, and without."""
