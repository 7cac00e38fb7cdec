"""Tests of the simulated typing of an edit."""

from benchmarks.engine.keystrokes import list_languages, make_trace, make_traces
from benchmarks.engine.real_edits import RealEdit

LONG = RealEdit("a.py", "python", "", "", "the quick brown fox jumps over the lazy dog, " * 20)


def test_typing_ends_with_the_text_and_is_the_same_every_time() -> None:
    edit = RealEdit("a.py", "python", "", "", "if x:\n        return x + 1")
    trace = make_trace(edit, 0, 1000)
    assert trace.states[-1] == edit.text
    assert trace == make_trace(edit, 0, 1000)
    assert trace != make_trace(edit, 1, 1000)


def test_every_key_adds_one_or_two_characters_or_deletes_a_typing_error() -> None:
    typed = make_trace(LONG, 0, 10_000).states
    steps = [len(b) - len(a) for a, b in zip(("", *typed), typed, strict=False)]
    assert set(steps) == {-1, 1, 2}
    wrong = [text for text in typed if not LONG.text.startswith(text)]
    assert wrong
    for text in wrong:
        assert typed[typed.index(text) + 1] == text[:-1]


def test_a_new_line_comes_with_its_indentation() -> None:
    typed = make_trace(RealEdit("a.py", "python", "", "", "x\n        y"), 0, 100).states
    assert "x\n        " in typed
    assert "x\n" not in typed


def test_traces_have_the_requested_number_of_keys_and_at_most_max_keys_per_edit() -> None:
    traces = make_traces([LONG, LONG, LONG], 50, max_keys=20)
    assert [len(trace.states) for trace in traces] == [20, 20, 10]
    assert list_languages(traces) == ["python"]
