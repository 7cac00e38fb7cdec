"""Tests of the languages package."""
