"""Checks that try the basic abilities of sessions for real, in a temporary home."""
