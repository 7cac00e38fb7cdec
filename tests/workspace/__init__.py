"""Tests of open documents and what belongs to each."""
