"""A tool's output as readers want it: without colours, as text of short lines, as JSON, as rows of JSON."""

import json
import re
from functools import cached_property
from typing import Any, cast

from lsp_harness.verify.digest import partial_json

LINE = 4_000
"""Characters of a line that are looked at: a minified file in a code frame is nobody's message."""
BEGINNINGS = 8
"""Places where a JSON value is looked for: some tools print a line or two before theirs."""

COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00\x08]")
LONG = re.compile(rf"(?m)^(.{{{LINE}}}).+$")
JSON = re.compile(r"(?m)^[ \t]*(?=[\[{])")


class ToolOutput:
    """Each form is made when a reader first asks for it, so that ten readers cost one parse."""

    def __init__(self, text: str) -> None:
        self.raw = COLOURS.sub("", text).replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")

    @cached_property
    def text(self) -> str:
        """With long lines cut."""
        return LONG.sub(r"\1…", self.raw)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def value(self) -> tuple[Any, bool]:
        """The JSON value in it and whether it is cut off; None where there is none."""
        starts = [match.end() for _, match in zip(range(BEGINNINGS), JSON.finditer(self.raw), strict=False)]
        for start in starts:
            found = partial_json.parse_value(self.raw, start)
            if found is not None:
                return found, False
            # before a later one is tried, which may be a part of this
            found = partial_json.parse_beginning(self.raw, start)
            if found is not None:
                return found, True
        return None, False

    @cached_property
    def rows(self) -> tuple[list[dict[str, Any]], bool]:
        """The objects that are a line each, and whether the last line breaks off in one."""
        rows: list[dict[str, Any]] = []
        cut = False
        for line in self.raw.split("\n"):
            if not line.startswith("{"):
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                cut = True
                continue
            cut = False
            if isinstance(row, dict):
                rows.append(cast("dict[str, Any]", row))
        return rows, cut
