"""Tests of the formats between processes."""
