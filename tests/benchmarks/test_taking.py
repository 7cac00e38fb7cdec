"""Tests of the simulated user: which suggestions they accept, and which keys they press."""

from collections import Counter

import pytest

from benchmarks.engine.keystrokes import make_trace
from benchmarks.engine.real_edits import RealEdit
from benchmarks.taking import Taker, list_key_names, list_remaining_states

TEXT = "return total / len(values)\n"


def count_decisions(ghost: str, written: str = "return ", text: str = TEXT) -> Counter[str]:
    return Counter(Taker(seed).decide(written, ghost, text) for seed in range(200))


def test_a_right_suggestion_is_sometimes_accepted_and_sometimes_typed_through():
    deeds = count_decisions("total / len(values)")
    assert set(deeds) == {"whole", "type"}
    assert 120 < deeds["whole"] < 180


def test_only_the_first_word_is_accepted_if_the_rest_is_wrong():
    assert set(count_decisions("total * 2")) == {"word", "type"}


def test_only_the_first_line_is_accepted_if_the_next_is_wrong():
    assert set(count_decisions("total / len(values)\n\ndef")) == {"line", "type"}
    assert set(count_decisions("\n    a = 1\n    b", text="return \n    a = 1\n    c")) == {"line", "type"}
    assert set(count_decisions("total *\n\ndef")) == {"word", "type"}


def test_each_suggestion_is_counted_once_by_its_correct_part():
    taker = Taker(0)
    for written, ghost in [("return ", "total"), ("return t", "otal"), ("return ", "total * 2"), ("return ", "sum")]:
        taker.decide(written, ghost, TEXT)
    assert taker.fits == {"whole": 1, "word": 1, "none": 1}


@pytest.mark.parametrize("ghost", ["", "sum(values)", "totals"])
def test_a_wrong_suggestion_is_never_accepted(ghost: str):
    assert set(count_decisions(ghost)) == {"type"}


def test_no_suggestion_is_accepted_behind_a_typing_error():
    assert set(count_decisions("total", written="rw")) == {"type"}


def test_a_decision_holds_for_the_rest_of_a_suggestion():
    for seed in range(50):
        taker = Taker(seed)
        first = taker.decide("return ", "total / len", TEXT)
        assert taker.decide("return t", "otal / len", TEXT) == first


def test_after_an_accepted_word_the_wrong_rest_is_not_accepted():
    taker = next(t for t in map(Taker, range(50)) if t.decide("return ", "total * 2", TEXT) == "word")
    assert taker.decide("return total", " * 2", TEXT) == "type"


def test_the_keys_of_a_trace_write_the_edit():
    edit = RealEdit("a.py", "python", "", "", "if a < b:\n    return é\n" * 9)
    written = ""
    for state in make_trace(edit, 3, 10**6).states:
        for key in list_key_names(written, state):
            if key == "<BS>":
                written = written[:-1]
            else:
                written += key.replace("<CR>", "\n").replace("<lt>", "<")
        assert written == state
    assert written == edit.text


def test_a_line_break_and_its_indentation_are_one_key():
    assert list_key_names("a:", "a:\n    b") == ["<CR>    ", "b"]


def test_states_that_the_text_already_has_are_left_out():
    assert list_remaining_states(["a", "ab", "abx", "ab", "abc"], "ab") == ["abx", "ab", "abc"]
    assert list_remaining_states(["a", "ab"], "abc") == []
