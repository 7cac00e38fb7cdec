"""Observations that make an edit of one token more or less likely."""
