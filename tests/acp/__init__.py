"""Tests of the agent of editors."""
