"""Checkers that run only if an environment variable names their program."""

import sys
from pathlib import Path

import pytest

from lsp_harness.languages.language_table import find_language
from lsp_harness.verify.types.checkers import GOPLS_VARIABLE, RUST_ANALYZER_VARIABLE, TYPE_CHECKERS


@pytest.mark.parametrize(
    ("language", "variable", "arguments"),
    [("go", GOPLS_VARIABLE, ["serve"]), ("rust", RUST_ANALYZER_VARIABLE, [])],
)
def test_a_named_checker_runs_only_if_its_variable_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, variable: str, arguments: list[str]
):
    [checker] = [checker for checker in TYPE_CHECKERS if checker.name == find_language(language).type_checker]
    monkeypatch.delenv(variable, raising=False)
    assert checker.find_program(tmp_path, tmp_path / "a") is None
    monkeypatch.setenv(variable, "off")
    assert checker.find_program(tmp_path, tmp_path / "a") is None
    monkeypatch.setenv(variable, sys.executable)
    program = checker.find_program(tmp_path, tmp_path / "a")
    assert program
    assert [*program.argv] == [sys.executable, *arguments]
    assert variable in checker.install_hint
