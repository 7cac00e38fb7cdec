"""Tests of the benchmarks. They check that a benchmark runs and reports figures, not the values."""
