"""Tests of the drivers of edits."""
