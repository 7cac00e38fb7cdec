"""Tests of syntax trees, queries and their results."""
