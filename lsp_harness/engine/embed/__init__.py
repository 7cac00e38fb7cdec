"""Vectors of texts, made by a second, small model."""
