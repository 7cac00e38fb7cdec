"""The distribution, as a user gets it."""
