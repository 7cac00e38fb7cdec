"""Repairs that need no model."""
