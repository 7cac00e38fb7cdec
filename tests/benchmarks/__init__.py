"""Measurements, run by hand: `python -m tests.benchmarks.<name>`. They are not collected by pytest."""
