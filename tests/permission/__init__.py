"""Tests of the permission gate."""
