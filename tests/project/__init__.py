"""Tests of the commands' access to one folder and its index."""
