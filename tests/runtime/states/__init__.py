"""Tests of the states of agents."""
