"""Tests of the kinds of agents."""
