"""The parts of a unified diff.

The numbers in the head of a part say where it ends. The signs do not: a removed line `-- a` looks like the head of a
file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
NEW_FILE = "+++ "


@dataclass(frozen=True, slots=True)
class DiffPart:
    """A part of a diff.

    Attributes:
        path: The file, as the diff names it, without `b/`.
        line: The first line in the old text, from 1.
        lines: The lines, each with its sign.
    """

    path: str
    line: int
    lines: tuple[str, ...]

    @property
    def old(self) -> str:
        """The text of the part before the change."""
        return self._join_lines("+")

    @property
    def new(self) -> str:
        """The text of the part after the change."""
        return self._join_lines("-")

    def _join_lines(self, left_out: str) -> str:
        text, is_kept = "", False
        for line in self.lines:
            if line.startswith("\\"):
                # this says that the line before it has no end
                text = text[:-1] if is_kept else text
            elif is_kept := not line.startswith(left_out):
                text += f"{line[1:]}\n"
        return text


def read_diff(diff: str) -> Iterator[DiffPart]:
    """Yield the parts of a unified diff. Lines between them are left out."""
    lines, path, number = diff.split("\n"), "", 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith(NEW_FILE):
            path = line.removeprefix(NEW_FILE).removeprefix("b/")
        elif head := HEAD.match(line):
            start = number
            old, new = (int(count or 1) for count in head.groups()[1:])
            while number < len(lines) and (old > 0 or new > 0 or lines[number].startswith("\\")):
                sign = lines[number][:1]
                old -= sign not in ("+", "\\")
                new -= sign not in ("-", "\\")
                number += 1
            yield DiffPart(path, int(head[1]), tuple(lines[start:number]))
