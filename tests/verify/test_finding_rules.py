"""Tests of the findings that count without settings of ruff, and of their order."""

from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.checks import LintCheck
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_rules import has_ruff_settings, is_error, select_counting, sort_by_gravity
from lsp_harness.verify.ruff_linter import Ruff
from tests.verify.single_change import check_change

pytestmark = pytest.mark.process

STYLE = ["I001", "SIM103", "TRY004", "E501", "UP006", "F541", "E711", "W291", "B006", "RUF100", "D100", "PLR0913"]
ERRORS = ["invalid-syntax", "syntax", "E902", "F821", "F401", "F841", "F811", "F632", "PLE0101", "PLE1142", "RUF016"]
LONG_CHAIN = (
    "def f(a, b):\n    if a:\n        return 1\n    elif b:\n        return True\n    else:\n        return False\n"
)
RAISES = 'def f(a):\n    if not isinstance(a, int):\n        raise ValueError("no number")\n    return a\n'
UNSORTED = "import sys\nimport os\n\nprint(os, sys)\n"


@pytest.mark.parametrize("code", STYLE)
def test_a_rule_about_style_counts_only_with_settings(code: str, tmp_path: Path) -> None:
    finding = Finding(0, 1, "message", "ruff", code, "warning")
    assert not is_error(finding)
    assert select_counting([finding], tmp_path / "a.py") == []
    (tmp_path / "ruff.toml").write_text("")
    assert select_counting([finding], tmp_path / "a.py") == [finding]


@pytest.mark.parametrize("code", ERRORS)
def test_a_rule_about_errors_counts_always(code: str, tmp_path: Path) -> None:
    finding = Finding(0, 1, "message", "ruff", code, "warning")
    assert select_counting([finding], tmp_path / "a.py") == [finding]


@pytest.mark.parametrize(
    ("name", "text", "has_settings"),
    [
        ("ruff.toml", "", True),
        (".ruff.toml", "", True),
        ("pyproject.toml", "[tool.ruff]\nline-length = 99\n", True),
        ("pyproject.toml", "[tool.ruff.lint]\nselect = ['I']\n", True),
        ("pyproject.toml", "[project]\nname = 'a'\n", False),
        ("pyproject.toml", "no toml", False),
        ("setup.cfg", "[tool:ruff]\n", False),
    ],
)
def test_settings_of_ruff_are_found_in_a_folder_above(name: str, text: str, has_settings: bool, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "a.py"
    assert not has_ruff_settings(file)
    (tmp_path / name).write_text(text)
    assert has_ruff_settings(file) is has_settings


@pytest.mark.parametrize("new", [LONG_CHAIN, RAISES, UNSORTED])
@pytest.mark.parametrize("settings", ["", '[lint]\nselect = ["SIM", "TRY", "I"]\n'])
async def test_new_style_rejects_an_edit_only_with_settings(
    new: str, settings: str, tmp_path: Path, ruff: Ruff
) -> None:
    if settings:
        (tmp_path / "ruff.toml").write_text(settings)
    file = tmp_path / "a.py"
    before, after = (Document.from_text(file.as_uri(), text, language="python") for text in ("x = 1\n", new))
    outcome = await check_change(LintCheck(ruff), Change.from_documents(before, after, file, tmp_path))
    assert outcome.status == ("failed" if settings else "passed")


async def test_a_new_unknown_name_rejects_an_edit_without_settings(tmp_path: Path, ruff: Ruff) -> None:
    file = tmp_path / "a.py"
    before, after = (Document.from_text(file.as_uri(), text, language="python") for text in ("x = 1\n", "x = y\n"))
    outcome = await check_change(LintCheck(ruff), Change.from_documents(before, after, file, tmp_path))
    assert list(outcome.lines) == ["LINT: F821 Undefined name `y`"]


def test_errors_come_before_style_and_those_that_break_the_program_first() -> None:
    findings = [
        Finding(0, 1, "order", "ruff", "I001", "warning"),
        Finding(2, 3, "unused", "ruff", "F401", "warning"),
        Finding(8, 9, "no member", "ty", "missing-attribute"),
        Finding(9, 9, "unknown", "ruff", "F821", "warning"),
        Finding(4, 5, "style of another tool", "pyright", "reportX", "warning"),
    ]
    codes = [finding.code for finding in sort_by_gravity(findings)]
    assert codes == ["missing-attribute", "F821", "F401", "I001", "reportX"]
