"""The output of a tool in the forms that readers need: plain text, lines, a JSON value, and lines of JSON."""

import json
import re
from functools import cached_property
from typing import Any, cast

from lsp_harness.verify.digest import partial_json

MAX_LINE_CHARS = 4_000
"""Longer lines are cut: they are minified code in a code frame, and never a message."""
MAX_JSON_STARTS = 8
"""Most places to try as the start of a JSON value: some tools print a line or two before it."""
ESCAPE_SEQUENCES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_P^X][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00\x08]"
)
LONG_LINE = re.compile(rf"(?m)^(.{{{MAX_LINE_CHARS}}}).+$")
JSON_START = re.compile(r"(?m)^[ \t]*(?=[\[{])")


class ToolOutput:
    """The output of a tool as text, as lines and as JSON. Each form is computed when a reader first needs it."""

    def __init__(self, text: str) -> None:
        """Remove escape sequences from the output, and give all lines the same line end."""
        self.raw = ESCAPE_SEQUENCES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")

    @cached_property
    def text(self) -> str:
        """The output with long lines cut."""
        return LONG_LINE.sub(r"\1…", self.raw)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of `text`."""
        return self.text.split("\n")

    @cached_property
    def value(self) -> tuple[Any, bool]:
        """The JSON value in the output, or None if there is none, and whether its end is missing."""
        starts = [match.end() for _, match in zip(range(MAX_JSON_STARTS), JSON_START.finditer(self.raw), strict=False)]
        for start in starts:
            value = partial_json.parse_value(self.raw, start)
            if value is not None:
                return value, False
            # a later start may be a part of this value, so the incomplete value is tried first
            value = partial_json.parse_beginning(self.raw, start)
            if value is not None:
                return value, True
        return None, False

    @cached_property
    def rows(self) -> tuple[list[dict[str, Any]], bool]:
        """The objects that stand on a line each, and whether the last of these lines is incomplete."""
        rows: list[dict[str, Any]] = []
        is_truncated = False
        for line in self.raw.split("\n"):
            if not line.startswith("{"):
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                is_truncated = True
                continue
            is_truncated = False
            if isinstance(row, dict):
                rows.append(cast("dict[str, Any]", row))
        return rows, is_truncated
