"""Reads the settings files of a project. A file that cannot be read counts as an empty one."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError

MAX_SETTINGS_BYTES = 1 << 20


def read_settings_text(path: Path) -> str:
    """Return the text of a settings file, or an empty text."""
    try:
        return read_text(path, MAX_SETTINGS_BYTES)
    except FileError:
        return ""


def read_toml(path: Path) -> Mapping[str, Any]:
    """Return the tables of a TOML file, or nothing."""
    try:
        return tomllib.loads(read_settings_text(path))
    except tomllib.TOMLDecodeError:
        return {}


def read_json(path: Path) -> Mapping[str, Any]:
    """Return the object of a JSON file, or nothing."""
    try:
        return as_mapping(json.loads(read_settings_text(path) or "{}"))
    except ValueError:
        return {}


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or nothing if the value is something else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
