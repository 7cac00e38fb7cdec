"""Tests of the façade."""
