"""The files by which a project tells which tools it uses."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import folders_up_to, read_toml

MAX_SETTINGS_BYTES = 1 << 20
COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL)
"""A string, a comment, or a comma at the end of a list."""


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
        value: Any = _read_json(read_text(file, MAX_SETTINGS_BYTES)) if file.suffix == ".json" else read_toml(file)
    except (FileError, ValueError, RecursionError):
        return {}
    table = _as_table(value)
    for name in names:
        table = _as_table(table.get(name))
    return table


def _read_json(text: str) -> Any:
    """Return the value of a text in JSON, which may have comments and commas at the end of lists."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else "", text))


def _as_table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def has_line(file: Path, start: str) -> bool:
    """Return whether a file has a line with this beginning, such as the head of a section."""
    try:
        return any(line.startswith(start) for line in read_text(file, MAX_SETTINGS_BYTES).split("\n"))
    except FileError:
        return False


def find_configured_folder(root: Path, file: Path, configures: Callable[[Path], str]) -> Path | None:
    """Return the nearest folder of a file, up to the workspace folder, whose files configure a tool, or None.

    Args:
        root: The workspace folder.
        file: The file.
        configures: Returns how the files of one folder configure the tool, or an empty text.
    """
    return next(filter(configures, folders_up_to(root, file)), None)
