"""Runs of the tests of projects."""
