"""Scenarios: text in, text out, through the whole harness."""
