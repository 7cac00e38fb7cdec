"""Tests of the ladder for failing tests."""
