"""Tests of the benchmarks: that they run and say what they found, not what they find."""
