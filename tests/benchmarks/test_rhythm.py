"""The times between keys."""

from statistics import median

import pytest

from benchmarks.rhythm import BEGINNING, LINE, LONGEST, SHORTEST, STATEMENT, WORD, Rhythm, share

TEXT = "if a:\n    total = call(a, b)\n" * 200


def compute_pauses(seed: int = 0, *, rhythm: Rhythm | None = None) -> list[float]:
    rhythm = rhythm or Rhythm(8, seed)
    return [rhythm.pause(TEXT[:end]) for end in range(len(TEXT))]


def test_pauses_between_bursts_have_the_expected_lengths():
    found = compute_pauses()
    paused = [pause for pause in found if pause]
    assert min(paused) >= SHORTEST
    assert max(paused) <= LONGEST
    assert 2.5 < median(paused) < 3.5
    assert 0.02 < len(paused) / len(found) < 0.2
    assert found == compute_pauses()
    assert found != compute_pauses(1)


def test_without_pauses_keys_come_evenly():
    rhythm = Rhythm(8, 0, pauses=False)
    assert rhythm.gap == 0.125
    assert set(compute_pauses(rhythm=rhythm)) == {0.0}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", BEGINNING),
        ("a = 1\n", LINE),
        ("a = 1\n    ", LINE),
        ("f(a, ", STATEMENT),
        ("total ", WORD),
        ("total", 0.0),
        ("total_", 0.0),
        ("  ", 0.0),
    ],
)
def test_the_pause_depends_on_the_text_before_the_cursor(written: str, expected: float):
    assert share(written) == expected
