"""Checks that ask the programs of a project, or the model."""
