"""Fixes that were accepted in a project, as templates that fit the same mistake in other code."""
