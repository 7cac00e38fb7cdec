"""Tests of the driver of completion."""
