"""Tests of the places and folders in which agents run."""
