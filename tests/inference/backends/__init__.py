"""Tests of the backends for remote servers."""
