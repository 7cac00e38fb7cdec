"""Tests of foreign agents in an editor."""
