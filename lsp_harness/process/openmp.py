"""Environment variables that say how the threads of llama.cpp wait for each other.

libgomp reads them when it is loaded.
"""

import os

SPIN_COUNT = 1000
"""How many times a waiting thread spins before it sleeps: about ten microseconds.

Compared with no spinning, a step of one token took 0.89 of the time on two idle cores, and 1.10 on busy cores
(docs/benchmarks.md).
"""


def openmp_environment() -> dict[str, str]:
    """Return the environment for a process that runs llama.cpp. A `GOMP_SPINCOUNT` of the user is kept."""
    # by default threads spin so long that they lose their processor on a busy machine
    return {"GOMP_SPINCOUNT": str(SPIN_COUNT), **os.environ, "OMP_WAIT_POLICY": "passive"}
