"""How the threads of llama.cpp wait for each other. libgomp reads it from the environment when it is loaded."""

import os

SPIN_COUNT = 1000
"""Turns a waiting thread spins before it sleeps, some ten microseconds.

On two quiet cores a step of one token took 0.89 of the time it takes without, on busy ones 1.10 (docs/benchmarks.md).
"""


def openmp_environment() -> dict[str, str]:
    """Our environment for a process that runs llama.cpp; its user's own `GOMP_SPINCOUNT` counts."""
    # left alone, threads spin for so long that a busy machine stops them dead
    return {"GOMP_SPINCOUNT": str(SPIN_COUNT), **os.environ, "OMP_WAIT_POLICY": "passive"}
