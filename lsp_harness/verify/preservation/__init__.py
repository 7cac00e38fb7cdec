"""The check that an edit keeps the code that its finding is not about."""
