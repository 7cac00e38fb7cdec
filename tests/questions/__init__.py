"""Questions to a person, the same in each surface."""
