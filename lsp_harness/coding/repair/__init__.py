"""Repairs that need no model: a similar name, a missing token, a missing import, and unused code."""
