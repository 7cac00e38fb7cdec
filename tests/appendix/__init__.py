"""Tests of every name that this program must have."""
