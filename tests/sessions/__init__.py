"""Tests of sessions that are put together from their options."""
