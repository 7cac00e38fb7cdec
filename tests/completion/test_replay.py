"""The savings by the wait for the next key, in a replay of typing with a simulated clock."""

import pytest

from lsp_harness.completion.trigger_policy import WAIT_SHARE
from lsp_harness.config.schema import Completion, Quiet
from tests.support.typist import EDITOR, Replay, draw_gaps, replay

HEAD = "import csv\n\n\n"
TEXT = """def read_totals(path, column):
    totals = {}
    for row in csv.DictReader(path.open(newline="")):
        totals[row["name"]] = totals.get(row["name"], 0.0) + float(row[column])
    return totals
"""
FAST, SLOW = 0.07, 0.19


def replay_typing(median: float, quiet: Quiet) -> Replay:
    return replay(HEAD, TEXT, draw_gaps(TEXT, median, 4), quiet)


@pytest.fixture(scope="module")
def replay_without_wait() -> Replay:
    return replay_typing(FAST, Quiet(debounce_ms=0))


@pytest.mark.parametrize("median", [FAST, SLOW])
def test_most_keys_continue_the_running_answer(median: float) -> None:
    result = replay_typing(median, Quiet())
    assert result.requests < len(TEXT) / 4
    assert len(result.shown) > len(TEXT) / 2


def test_the_engine_writes_less_for_a_fast_typist_of_another_text(replay_without_wait: Replay) -> None:
    assert replay_typing(FAST, Quiet()).wrote < replay_without_wait.wrote * 0.9


def test_a_suggestion_comes_no_later_than_the_longest_wait(replay_without_wait: Replay) -> None:
    waited = replay_typing(FAST, Quiet())
    most = WAIT_SHARE * Completion().latency_ms / 1000
    both = replay_without_wait.written & waited.written
    assert both
    assert all(waited.shown[key] - replay_without_wait.shown[key] <= most for key in both)
    # and what was there already, at once
    result = waited.shown.keys() - waited.written
    assert result
    assert all(waited.shown[key] == pytest.approx(EDITOR) for key in result)


def test_a_slow_typist_is_not_made_to_wait() -> None:
    assert replay_typing(SLOW, Quiet()) == replay_typing(SLOW, Quiet(debounce_ms=0))


def test_a_delay_of_the_user_is_respected(replay_without_wait: Replay) -> None:
    waited = replay_typing(FAST, Quiet(debounce_ms=300))
    assert waited.requests < replay_without_wait.requests / 4
    assert min(waited.shown[key] for key in waited.written) >= 0.3
