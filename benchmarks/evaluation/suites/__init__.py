"""Suites of tasks: their formats, the tests that the harness may see, and the hidden checks."""
