"""Tests of the figures that benchmarks compute from their measurements."""

from pathlib import Path

import pytest

from benchmarks.engine.simulated_editor import count_common_prefix_bytes
from benchmarks.engine.suite.candidates import make_figures as candidates_figures
from benchmarks.engine.suite.jump import NEAR_LINES, RECENT_JUMPS, make_new_line_text, make_route
from benchmarks.engine.suite.lookup import SAMPLE, TASKS, compute_generation_speeds, count_changed_lines
from benchmarks.engine.suite.lookup import make_figures as lookup_figures
from benchmarks.engine.suite.preempt import compute_allowed_rise_ms, compute_p95_rise
from benchmarks.engine.suite.share import compute_kv_bytes, compute_reuse_percent
from benchmarks.engine.suite.typing import TOKENS, select_full_totals
from benchmarks.engine.timing import Timing
from lsp_harness.inference.request import Usage
from lsp_harness.text.document import Document


def make_timing(first: float, total: float, *, text: str = "", **usage: int) -> Timing:
    return Timing(first, total, (text,), (Usage(**usage),))


def test_total_times_are_compared_only_for_complete_answers() -> None:
    whole, short = make_timing(1, 10, generated=TOKENS), make_timing(1, 4, generated=3)
    assert select_full_totals([whole, whole, short], [(whole, whole), (whole, short), (short, whole)]) == ([10], [10])
    assert select_full_totals([whole, short], []) == ([10], [])


def test_a_walk_has_near_far_and_back_jumps() -> None:
    documents = [Document.from_text(name, "".join(f"line {n}\n\n" for n in range(400))) for name in ("a", "b")]
    jumps = make_route(documents, 60)
    assert jumps == make_route(documents, 60)
    assert {jump.kind for jump in jumps[3:]} == {"near", "far", "back"}
    for number, jump in enumerate(jumps):
        before, document = jumps[number - 1], documents[jump.file]
        assert document.line(document.line_of(jump.offset))
        if jump.kind == "near":
            assert jump.file == before.file
            assert 0 < abs(document.line_of(jump.offset) - document.line_of(before.offset)) <= NEAR_LINES
        if jump.kind == "back":
            places = [(seen.file, seen.offset) for seen in jumps[max(0, number - RECENT_JUMPS) : number]]
            assert (jump.file, jump.offset) in places


def test_an_empty_file_can_be_jumped_into() -> None:
    assert [jump.offset for jump in make_route([Document.from_text("a", "")], 4)] == [0, 0, 0, 0]


def test_a_line_is_opened_with_the_indentation_above() -> None:
    assert make_new_line_text(Document.from_text("a", "x\n    y = 1\n"), 11) == "\n    "
    assert make_new_line_text(Document.from_text("a", "if x:\n"), 5) == "\n    "
    assert make_new_line_text(Document.from_text("a", "if (x) {\n", language="typescript"), 8) == "\n  "


def test_a_common_prefix_ends_between_characters() -> None:
    assert count_common_prefix_bytes("aé".encode(), "aè".encode()) == 1
    assert count_common_prefix_bytes(b"ab", b"abc") == 2
    assert count_common_prefix_bytes(b"", b"x") == 0


def test_changed_lines_and_generation_speed_of_a_rewrite_are_measured() -> None:
    before = "a\nb\nc\n"
    assert count_changed_lines(before, "```python\na\nB\nc\n```") == 1
    assert count_changed_lines(before, "a\nb\nc\nd\n") == 1
    assert count_changed_lines(before, "```\na\n```") == 2
    assert compute_generation_speeds([make_timing(100, 1100, generated=11), make_timing(5, 5)]) == [10.0]


def test_every_line_to_rewrite_is_in_the_sample_once() -> None:
    lines = [line.strip() for line in SAMPLE.read_text().splitlines()]
    assert len(lines) == 60
    assert [lines.count(old) for task in TASKS for old, _ in task] == [1] * 9


@pytest.mark.parametrize(("answer", "met"), [("same", True), ("other", False)])
def test_answers_must_be_identical_with_drafting(answer: str, met: bool) -> None:
    figures = lookup_figures(
        [make_timing(0, 10, text="same", generated=8)], [make_timing(0, 20, text=answer, generated=8)]
    )
    assert [figure.met for figure in figures[:2]] == [True, met]


def test_reuse_is_a_share_of_all_prompt_tokens() -> None:
    assert (
        compute_reuse_percent([make_timing(0, 0, evaluated=1, reused=99), make_timing(0, 0, evaluated=9, reused=91)])
        == 95.0
    )
    assert compute_reuse_percent([]) is None


def test_the_size_of_the_cells_follows_from_the_header(tiny_model: Path) -> None:
    layers, heads, width = 2, 2, 64 // 4
    assert compute_kv_bytes(tiny_model, 1000) == 2 * 2 * layers * heads * width * 1000


def test_the_delay_is_compared_with_a_chunk_and_a_step() -> None:
    props = {"curve": {"decode_ms": {"1": 10.0, "5": 30.0, "16": 60.0}, "chunk": 16}}
    assert compute_allowed_rise_ms(props) == 90.0
    assert compute_allowed_rise_ms({"curve": {"decode_ms": {"1": 10.0, "16": 60.0}}}) is None
    assert compute_p95_rise([1.0, 1.0], [3.0, 3.0]) == 2.0
    assert compute_p95_rise([], [3.0]) is None


def test_candidates_that_did_not_come_are_seen() -> None:
    figures = candidates_figures({}, [make_timing(10, 100, evaluated=1500)], [make_timing(10, 60)], [])
    [came] = [figure for figure in figures if figure.name.startswith("candidates that came")]
    assert (came.value, came.met) == (1.0, False)
