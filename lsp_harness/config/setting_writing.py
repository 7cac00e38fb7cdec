"""Changes of single settings in the settings file of the user, which keep everything else in the file as it is."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from lsp_harness.config.load import find_user_config_file
from lsp_harness.disk.file_reading import describe_system_error, read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import ConfigError, FileError, FileMissing


def write_user_setting(table: str, key: str, value: str) -> Path:
    """Set a setting in the settings file of the user, and return the file.

    The file is created if it is missing. The new text is read before it is written: only this setting may differ.

    Args:
        table: The table of the setting, such as `model`.
        key: The setting in the table, such as `path`.
        value: The new value.

    Raises:
        ConfigError: The file cannot be read or written, or its form is not one that can be changed safely.
    """
    file = find_user_config_file()
    line = f"{key} = {json.dumps(value)}"
    try:
        text = read_text(file)
    except FileMissing:
        text = ""
    except FileError as error:
        raise ConfigError(f"{error.message}; set {table}.{key} to {json.dumps(value)} yourself") from error
    new_text = _put_line(text, table, key, line)
    try:
        expected: dict[str, Any] = tomllib.loads(text)
        expected.setdefault(table, {})[key] = value
        is_right = tomllib.loads(new_text) == expected
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        is_right = False
    if not is_right:
        raise ConfigError(f"{file} cannot be changed safely; write this line under [{table}] yourself: {line}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_own_file(file, new_text.encode())
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {describe_system_error(error)}") from error
    return file


def _put_line(text: str, table: str, key: str, line: str) -> str:
    """Return the text of a settings file with a line in place of the setting, or under the header of its table."""
    lines = text.splitlines(keepends=True)
    headers = [number for number, old in enumerate(lines) if re.match(rf"\[{re.escape(table)}\]\s*(#.*)?$", old)]
    if not headers:
        gap = "\n" if text else ""
        return text + ("" if text.endswith("\n") or not text else "\n") + f"{gap}[{table}]\n{line}\n"
    start = headers[0] + 1
    end = next((number for number in range(start, len(lines)) if lines[number].startswith("[")), len(lines))
    old = next((number for number in range(start, end) if re.match(rf"{re.escape(key)}\s*=", lines[number])), None)
    if old is None:
        # the header may be the last line, without an end
        lines[start - 1] = lines[start - 1].rstrip("\n") + "\n"
        lines.insert(start, f"{line}\n")
    else:
        lines[old] = f"{line}\n"
    return "".join(lines)
