"""Vectors of texts, by a second small model."""
