"""Tests of the time to wait for the next key."""

import pytest

from lsp_harness.text.edit import Edit
from lsp_harness.workspace.typed_text import MAX_GAPS, MIN_GAPS, TypingRhythm

MAX_GAP_S = 0.1
KEY = Edit(0, 0, b"a")


def record_typing(*gaps: float, edit: Edit = KEY) -> TypingRhythm:
    rhythm, now = TypingRhythm(), 0.0
    rhythm.add(now, edit)
    for gap in gaps:
        now += gap
        rhythm.add(now, edit)
    return rhythm


def test_there_is_no_wait_for_a_user_who_has_hardly_typed() -> None:
    assert TypingRhythm().wait_s(MAX_GAP_S) == 0
    assert record_typing(*[0.05] * (MIN_GAPS - 1)).wait_s(MAX_GAP_S) == 0


def test_a_fast_typist_is_waited_for_as_long_as_most_gaps_are() -> None:
    assert record_typing(*[0.05] * 20, 0.09).wait_s(MAX_GAP_S) == pytest.approx(0.05)
    assert record_typing(*[0.05] * 10, *[0.08] * 10).wait_s(MAX_GAP_S) == pytest.approx(0.08)


def test_a_slow_typist_is_not_waited_for() -> None:
    assert record_typing(*[0.2] * 20).wait_s(MAX_GAP_S) == 0
    assert record_typing(*[0.2] * 20, *[0.05] * 10).wait_s(MAX_GAP_S) == 0


def test_no_wait_is_longer_than_allowed() -> None:
    assert record_typing(*[0.05] * 10, *[0.099] * 10, *[0.15] * 5).wait_s(MAX_GAP_S) == pytest.approx(0.099)


def test_pauses_and_pastes_are_no_gaps() -> None:
    assert record_typing(*[0.05, 1.0] * 10).wait_s(MAX_GAP_S) == pytest.approx(0.05)
    assert record_typing(*[0.05] * 20, edit=Edit(0, 0, b"pasted")).wait_s(MAX_GAP_S) == 0
    assert record_typing(*[0.05] * 20, edit=Edit(0, 9, b"")).wait_s(MAX_GAP_S) == 0
    rhythm = record_typing(*[0.05] * 20)
    rhythm.add(2.0, Edit(0, 0, b"pasted"))
    rhythm.add(2.001, KEY)
    assert rhythm.wait_s(MAX_GAP_S) == pytest.approx(0.05)


@pytest.mark.parametrize("new", [b"\n        ", b"\r\n\t", b"()", "界".encode()])
def test_gaps_between_keys_of_all_kinds_count(new: bytes) -> None:
    assert record_typing(*[0.05] * 20, edit=Edit(0, 0, new)).wait_s(MAX_GAP_S) == pytest.approx(0.05)


def test_only_recent_gaps_count() -> None:
    assert record_typing(*[0.2] * 100, *[0.06] * MAX_GAPS).wait_s(MAX_GAP_S) == pytest.approx(0.06)


def test_a_clock_that_goes_back_gives_no_gap() -> None:
    assert record_typing(*[0.05, -1.0] * 20).wait_s(MAX_GAP_S) == pytest.approx(0.05)
