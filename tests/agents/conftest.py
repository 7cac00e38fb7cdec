"""Fixtures for agents that work in the folder of a harness."""

from tests.harness.conftest import bench, ruff

__all__ = ["bench", "ruff"]
