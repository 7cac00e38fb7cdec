"""Readers of the output of programs that run tests, other than pytest, go and cargo."""
