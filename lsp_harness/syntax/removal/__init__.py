"""The removal of unused code."""
