"""Checks on proposed bytes, and the verdict they add up to."""
