"""The files by which a project tells which tools it uses."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError

MAX_SETTINGS_BYTES = 1 << 20


def find_configuration(root: Path, files: tuple[str, ...], table: str = "") -> str:
    """Return the name of the file in a folder by which a project configures a tool, or an empty text.

    Args:
        root: The folder of the project.
        files: Names of files that only this tool reads.
        table: The name of the table in `[tool]` of `pyproject.toml`.
    """
    name = next((name for name in files if (root / name).is_file()), "")
    if not name and table and table in read_table(root / "pyproject.toml", "tool"):
        return f"[tool.{table}] in pyproject.toml"
    return name


def read_table(file: Path, *names: str) -> Mapping[str, Any]:
    """Return a table of a TOML or JSON file, or an empty one if it cannot be read."""
    try:
        text = read_text(file, MAX_SETTINGS_BYTES)
        value: Any = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (FileError, ValueError, RecursionError):
        return {}
    table = _as_table(value)
    for name in names:
        table = _as_table(table.get(name))
    return table


def _as_table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def has_line(file: Path, start: str) -> bool:
    """Return whether a file has a line with this beginning, such as the head of a section."""
    try:
        return any(line.startswith(start) for line in read_text(file, MAX_SETTINGS_BYTES).split("\n"))
    except FileError:
        return False


def folders_up_to(root: Path, file: Path) -> Iterator[Path]:
    """Yield the folders of a file up to the workspace folder."""
    if file.is_relative_to(root):
        yield from (folder for folder in file.parents if folder.is_relative_to(root))
