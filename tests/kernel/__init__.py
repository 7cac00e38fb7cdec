"""Tests of the session log."""
