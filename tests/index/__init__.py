"""Tests of the index."""
