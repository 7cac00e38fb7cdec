"""Tests of the case file of each rule, with all rules switched on."""

import pytest

from lsp_harness.completion.rules.shaping import RULES, shape_ghost
from tests.completion.golden import CASES, Case, add_marks, read, remove_marks, write

FILES = sorted(CASES.glob("*.txt"))
ALL = [case for path in FILES for case in read(path)]


def test_every_rule_has_a_file_and_every_file_a_rule() -> None:
    assert {path.stem for path in FILES} == {rule.name for rule in RULES}
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.reason for rule in RULES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_files_are_up_to_date(path, golden_update: bool) -> None:
    if golden_update:
        write(path, read(path))
    names = [case.name for case in read(path)]
    assert len(names) == len(set(names)) >= 2


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.rule}: {case.name}")
def test_a_case_has_its_expected_result(case: Case, golden_update: bool) -> None:
    result, applied = case.run()
    if not golden_update:
        assert (None if result is None else add_marks(result)) == case.shown
    assert (case.rule in applied) is ("untouched" not in case.options), applied
    if result is not None:
        assert shape_ghost(case.ghost.with_text(result)).text == result


@pytest.mark.parametrize("text", ["a\n", "a\t \r\n", "a\nb  \nc\n\n", "", "  "])
def test_marks_can_be_read_back(text: str) -> None:
    assert remove_marks(add_marks(text)) == text
