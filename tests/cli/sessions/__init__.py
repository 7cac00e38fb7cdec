"""Tests of the commands that run and show sessions."""
