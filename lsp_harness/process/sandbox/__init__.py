"""Runs programs that nobody has read, such as the tests of a project, so that they can change nothing else."""
