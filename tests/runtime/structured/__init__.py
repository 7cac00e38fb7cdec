"""Tests of the connections over protocols."""
