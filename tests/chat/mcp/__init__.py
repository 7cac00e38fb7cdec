"""Tests of the tools of other programs."""
