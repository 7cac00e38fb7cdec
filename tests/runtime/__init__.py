"""Tests of the runtime of foreign agents."""
