"""Benchmarks of the engine with real edits, with a llama-server for comparison if there is one."""
