"""Rules that are added to the settings file of the user. The rest of the file stays as it is."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import replace_file
from lsp_harness.errors import FileError, FileMissing
from lsp_harness.permission.rules import parse_rule


def add_allow_rules(file: Path, rules: Sequence[str]) -> str:
    """Add rules that allow to the end of a settings file. A rule that is already there is not repeated.

    Returns:
        Why the file was not changed; empty if it has the rules now.
    """
    try:
        try:
            text = read_text(file)
        except FileMissing:
            text = ""
            file.parent.mkdir(parents=True, exist_ok=True)
        present = _present_rules(tomllib.loads(text))
        added = [rule for rule in rules if rule not in present]
        if not added:
            return ""
        new = text.rstrip("\n") + "\n" * (2 if text.strip() else 0) + "\n".join(map(_format_table, added))
        tomllib.loads(new)
        _write(file, new)
    except tomllib.TOMLDecodeError as error:
        return f"{file} cannot take it ({error}); add it to permissions.allow yourself"
    except (FileError, OSError) as error:
        return f"{file} was not changed ({error})"
    return ""


def _write(file: Path, text: str) -> None:
    if not file.exists():
        file.touch(mode=0o600)
    replace_file(file, text.encode("utf-8", "replace"))


def _format_table(text: str) -> str:
    rule = parse_rule(text, "allow")
    pattern = f"pattern = {_format_text(rule.pattern)}\n" if rule.pattern is not None else ""
    return f'[[permissions.rules]]\ndecision = "allow"\ntool = {_format_text(rule.tool)}\n{pattern}'


def _format_text(text: str) -> str:
    # a basic string of TOML has the escapes of JSON, but for the DEL character
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _present_rules(settings: dict[str, object]) -> set[str]:
    permissions = settings.get("permissions")
    if not isinstance(permissions, dict):
        return set()
    rules = set[str]()
    for table in permissions.get("rules", []):  # type: ignore[reportUnknownVariableType]
        if isinstance(table, dict) and table.get("decision") == "allow":  # type: ignore[reportUnknownMemberType]
            tool, pattern = table.get("tool"), table.get("pattern")  # type: ignore[reportUnknownVariableType]
            rules.add(f"{tool}({pattern})" if pattern else f"{tool}")
    allow = permissions.get("allow", [])  # type: ignore[reportUnknownVariableType]
    return rules | {text for text in allow if isinstance(text, str)}  # type: ignore[reportUnknownVariableType]
