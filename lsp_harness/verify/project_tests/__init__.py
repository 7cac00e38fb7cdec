"""Runs the tests of a project on texts that are not on disk."""
