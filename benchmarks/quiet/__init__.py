"""Scenarios of people at work, half of which call for silence."""
