"""The programs that run tests, found by the files of a project. A new one is a function and a row in the table."""

from collections.abc import Callable, Mapping
from pathlib import Path

from lsp_harness.verify.project_tests.other_runners import find_cargo_runner, find_go_runner, find_node_runner
from lsp_harness.verify.project_tests.python_runners import find_python_runner
from lsp_harness.verify.project_tests.suite_runner import SuiteRunner

Finder = Callable[[Path, Path, str], SuiteRunner | None]

FINDERS: Mapping[str, Finder] = {
    ".py": find_python_runner,
    ".pyi": find_python_runner,
    ".go": lambda root, file, setting: find_go_runner(root, file),
    ".rs": lambda root, file, setting: find_cargo_runner(root, file),
    **dict.fromkeys(
        (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"),
        lambda root, file, setting: find_node_runner(root, file),
    ),
}
"""Suffix of a file → the function that looks for the program of its tests."""


def find_runner(root: Path, path: str, python_setting: str = "") -> SuiteRunner | None:
    """Return the program that runs the tests for a file of a project, or None.

    Args:
        root: The workspace folder.
        path: The file, relative to it.
        python_setting: The value of the setting `knowledge.python`.
    """
    file = root / path
    finder = FINDERS.get(file.suffix)
    return finder(root, file, python_setting) if finder else None
