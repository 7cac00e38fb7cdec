"""Shortens the output of tests, linters and compilers to one line for each problem."""
