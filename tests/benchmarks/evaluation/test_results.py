"""Figures, the file of results and the page."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.evaluation.attempt import UNRESOLVED, Category
from benchmarks.evaluation.results.arm_figures import (
    compare_pairs,
    compute_figures,
    compute_mcnemar_p_value,
    group_results,
)
from benchmarks.evaluation.results.result_file import ResultFile
from benchmarks.evaluation.results.results_page import render_results
from benchmarks.evaluation.results.task_result import TaskResult
from lsp_harness.errors import UsageError


def make_result(task: str, arm: str, category: Category, **more: object) -> TaskResult:
    return replace(TaskResult("small", task, arm, "m", "", category), **more)


def test_the_figures_of_an_arm_keep_the_categories_apart():
    results = [
        make_result("a", "best8", "pass", seconds=2.0, kind="rewrite", checks={"syntax": "passed", "tests": "passed"}),
        make_result(
            "b", "best8", "fail", seconds=4.0, checks={"lint": "passed", "tests": "passed"}, is_false_verified=True
        ),
        # the form alone was checked, whatever an older program wrote into the file
        make_result(
            "g", "best8", "fail", seconds=5.0, checks={"lint": "passed", "tests": "skipped"}, is_false_verified=True
        ),
        make_result("h", "best8", "pass", seconds=5.0, checks={"syntax": "passed", "review": "passed"}),
        make_result("c", "best8", "no answer", seconds=6.0),
        make_result("f", "best8", "fail", seconds=6.0, checks={"syntax": "passed", "tests": UNRESOLVED}),
        make_result("d", "best8", "tool missing"),
        make_result("e", "best8", "error"),
    ]
    figures = compute_figures("best8", results)
    assert (figures.total, figures.judged, figures.pass_share) == (8, 6, 2 / 6)
    assert figures.median_s == 5.0
    assert (figures.verified, figures.false_verified) == (2, 1)
    assert (figures.form_only, figures.form_only_wrong, figures.unverified) == (2, 1, 1)
    assert figures.false_by_checks == {"syntax, tests": (0, 1), "lint, tests": (1, 1)}
    assert figures.kinds == {"rewrite": 1, "": 1}
    page = render_results(results)
    assert "<td>best8</td><td>2</td><td>1</td><td>2</td><td>1</td><td>1</td><td>1</td>" in page


def test_two_arms_are_compared_on_the_same_tasks():
    first = [make_result(task, "ladder", "pass") for task in "abcdef"]
    second = [make_result(task, "single", "pass" if task == "a" else "fail") for task in "abcdefg"]
    [pair] = compare_pairs(group_results([*first, *second, make_result("h", "ladder", "error")]))
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (1, 5, 0, 0)
    assert pair.p == pytest.approx(0.0625)


@pytest.mark.parametrize(("first", "second", "p"), [(0, 0, 1.0), (5, 5, 1.0), (9, 1, 0.021484375), (1, 0, 1.0)])
def test_the_exact_test_of_mcnemar_gives_the_known_values(first: int, second: int, p: float):
    assert compute_mcnemar_p_value(first, second) == pytest.approx(p)


def test_results_are_read_again(tmp_path: Path):
    file = ResultFile(tmp_path / "new" / "out.jsonl")
    rows = [
        make_result("a", "single", "pass", state_tokens={"GENERATE": {"generated": 3}}, reasons=("x",)),
        make_result("b", "single", "error"),
    ]
    for row in rows:
        file.append(row)
    again = ResultFile(file.path)
    assert again.results == rows
    assert again.find(rows[0].key) == rows[0]
    # an error is tried again
    assert again.find(rows[1].key) is None
    assert again.results[0].generated == 3


def test_a_file_that_has_no_results_is_refused(tmp_path: Path):
    file = tmp_path / "notes.jsonl"
    file.write_text('{"a": 1}\n')
    with pytest.raises(UsageError, match=r"notes.jsonl:1 is no result .* --out"):
        ResultFile(file)
    assert file.read_text() == '{"a": 1}\n'


def test_the_page_needs_no_other_files_and_escapes_output_of_models():
    attack = "<script>alert(1)</script>"
    page = render_results(
        [
            make_result("a", "single", "fail", diff=f"+{attack}\n-old\n", reason=attack, reasons=(attack,)),
            make_result(
                "a", "ladder", "pass", state_seconds={"GENERATE": 1.5}, checks={"syntax": "passed"}, seconds=2.0
            ),
        ]
    )
    assert "<script" not in page
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page
    for text in ("GENERATE 1.5 s", "Paired differences", '<span class="removed">-old</span>', "syntax passed"):
        assert text in page
