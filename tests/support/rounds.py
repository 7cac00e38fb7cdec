"""How many rounds a test with random inputs takes."""

import os

THOROUGH = "LSP_HARNESS_THOROUGH_TESTS"
"""The environment variable that `pytest --thorough` sets, for the workers of the run and for the processes of tests."""
QUICK_SHARE = 5
"""A usual run takes one of this number of rounds. The seeds are fixed, so the rounds of each run are the same ones."""


def count_rounds(number: int) -> int:
    """Return how many rounds to take of the number in a thorough run."""
    return number if os.environ.get(THOROUGH) else max(1, number // QUICK_SHARE)
