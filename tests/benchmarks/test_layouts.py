"""Tests of the matrix of layouts, and its layouts that need no package of a registry."""

from pathlib import Path

import pytest

from benchmarks.layouts.builder import build_layout, find_missing
from benchmarks.layouts.environments import EnvironmentCache
from benchmarks.layouts.judge import BEST, Judgement
from benchmarks.layouts.layout import KINDS, Layout
from benchmarks.layouts.matrix import LAYOUTS, judge_layout
from tests.support.project_suites import require_sandbox

QUICK = (
    *("flat-conftest", "whole-path-in-pth", "backend-folder", "unittest"),
    *("node-test-esm", "cargo-unit-tests"),
)
"""The layouts of the suite of this project. All others are measured by hand."""
BY_NAME = {layout.name: layout for layout in LAYOUTS}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> EnvironmentCache:
    """The packages of this environment, as those of generated projects."""
    return EnvironmentCache(tmp_path_factory.mktemp("environments"), is_local=True)


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the harness keep its files in a folder of its own."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_has_an_edit_of_each_kind(layout: Layout):
    assert tuple(edit.kind for edit in layout.edits) == KINDS
    for edit in layout.edits:
        assert edit.apply(layout.files[edit.path]) != layout.files[edit.path]


def test_the_quick_layouts_need_no_registry():
    assert len(BY_NAME) == len(LAYOUTS)
    assert not any(BY_NAME[name].needs_network for name in QUICK)


@pytest.mark.parametrize("name", QUICK)
async def test_the_verdict_about_each_edit_is_right(name: str, cache: EnvironmentCache, tmp_path: Path):
    require_sandbox()
    layout = BY_NAME[name]
    if missing := find_missing(layout):
        pytest.skip(f"{missing[0]} is not on this machine")
    built = build_layout(layout, tmp_path, cache)
    cells = await judge_layout(layout, built.root, BEST)
    assert {cell.edit: cell.rating for cell in cells} == dict.fromkeys(KINDS, "right"), cells


@pytest.mark.parametrize(
    ("must_fail", "word", "tests", "is_incomplete", "rating"),
    [
        (True, "failed", "failed", False, "right"),
        (True, "failed", "skipped", False, "right"),
        (True, "passed", "passed", False, "false ✓"),
        (True, "passed", "skipped", False, "silent ✓"),
        (True, "passed", "skipped", True, "skipped"),
        (True, "incomplete", "skipped", True, "skipped"),
        (False, "failed", "failed", False, "false ✗"),
        (False, "passed", "passed", False, "right"),
        (False, "passed", "skipped", False, "skipped"),
    ],
)
def test_a_verdict_is_rated_right_or_wrong(must_fail: bool, word: str, tests: str, is_incomplete: bool, rating: str):
    assert Judgement(word, tests, "", is_incomplete, 1.0).rate(must_fail=must_fail) == rating
