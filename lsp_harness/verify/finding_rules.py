"""Which findings count, and which come first: errors before style, and the rules that the project has chosen.

A project without settings of ruff has chosen nothing, and newer versions of ruff report hundreds of rules about style
then. So only the rules about errors count there. Where the project has settings, its selection holds.
"""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import platformdirs

from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import RUFF_SETTINGS_NAMES
from lsp_harness.verify.types.project_settings import read_table

BREAKING_RULES = ("syntax", "invalid-syntax", "E9", "F50", "F63", "F70", "F821", "F822", "F823", "PLE")
"""Prefixes of rules about code that fails when it runs."""
ERROR_RULES = (*BREAKING_RULES, "F", "B030", "RUF016")
"""Prefixes of ruff's rules about errors: syntax, names, formats, unused and redefined names, calls that always fail."""
STYLE_RULES = frozenset({"F541"})
"""Rules about style among those: an f-string without placeholders."""
SETTINGS_TABLE = ("tool", "ruff")
USER_FOLDER = "ruff"
"""The folder of the user's own settings of ruff."""


def is_error(finding: Finding) -> bool:
    """Return whether a finding of ruff is about an error, and not about style."""
    return finding.code.startswith(ERROR_RULES) and finding.code not in STYLE_RULES


def select_counting(findings: Iterable[Finding], file: Path) -> list[Finding]:
    """Return the findings of ruff that count for a file: all if there are settings of ruff, else those about errors."""
    found = list(findings)
    if all(map(is_error, found)) or has_ruff_settings(file):
        return found
    return [finding for finding in found if is_error(finding)]


def sort_by_gravity(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with those first that break the program, then other errors, then style; each in text order."""
    return sorted(findings, key=lambda finding: (rank_finding(finding), finding.start))


def rank_finding(finding: Finding) -> int:
    """Return how early a finding comes: 0 if it breaks the program, 1 for other errors, and 2 for style."""
    is_of_ruff = finding.source in ("ruff", "lsp-harness")
    if finding.code.startswith(BREAKING_RULES) or (not is_of_ruff and finding.severity == "error"):
        return 0
    return 1 if is_of_ruff and is_error(finding) else 2


def has_ruff_settings(file: Path) -> bool:
    """Return whether there are settings of ruff for a file: in a folder above it, or the user's own."""
    folders = [*file.absolute().parents, Path(platformdirs.user_config_dir(USER_FOLDER))]
    return any(_is_settings(path) for folder in folders for path in _list_settings(folder))


def _list_settings(folder: Path) -> Iterator[Path]:
    yield from (folder / name for name in (*RUFF_SETTINGS_NAMES, "pyproject.toml"))


def _is_settings(path: Path) -> bool:
    if not os.path.isfile(path):
        return False
    if path.name != "pyproject.toml":
        return True
    status = os.stat(path)
    return _has_table(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _has_table(path: Path, changed_ns: int, size: int) -> bool:
    """Return whether a `pyproject.toml` has a table for ruff. Its time and its size tell one version from another."""
    del changed_ns, size
    *outer, name = SETTINGS_TABLE
    return name in read_table(path, *outer)
