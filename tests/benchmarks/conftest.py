"""Measurements are commands of the command line."""

from tests.cli.conftest import shell

__all__ = ["shell"]
