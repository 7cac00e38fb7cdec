"""The lines on which a fault is, found by parsing the blocks of a text one by one.

Where a parser gives up on all of a file, its blocks may still be told apart by their indentation. A block that parses on its own
is not where the fault is.
"""

from collections.abc import Sequence

from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.parse_budget import Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import parse_root

PARSES = 300
"""How many pieces are parsed at most."""
READINGS = 5
"""How often the text is parsed in all, piece by piece."""
SECONDS = 0.15
"""Processor time of all these parses together."""
WRAPPERS: dict[str, tuple[tuple[bytes, bytes], ...]] = {
    **dict.fromkeys(
        ("javascript", "typescript", "tsx"), ((b"", b""), (b"class X {\n", b"\n}"), (b"x = {\n", b"\n}"), (b"x(", b")"))
    ),
    "php": ((b"<?php ", b""), (b"<?php class X {\n", b"\n}"), (b"<?php [\n", b"\n];")),
    "java": ((b"class X {\n", b"\n}"), (b"class X { { \n", b"\n}}"), (b"enum X {\n", b"\n}")),
    "csharp": ((b"", b""), (b"class X {\n", b"\n}"), (b"enum X {\n", b"\n}")),
    "rust": ((b"", b""), (b"struct X {\n", b"\n}"), (b"match x {\n", b"\n}"), (b"x!(", b")")),
    "go": ((b"", b""), (b"type X struct {\n", b"\n}"), (b"switch {\n", b"\n}"), (b"x(", b")")),
    "json": ((b"", b""), (b"{", b"}"), (b"[", b"]")),
    "ruby": ((b"", b""), (b"x(", b")"), (b"x {", b"}")),
}
"""What a piece may have around it: it parses if it does in one of these."""


class Pieces:
    """The search of one text. All its parses share one allowance; when that is spent, no line is named."""

    def __init__(
        self, language: Language, lines: Sequence[bytes], going: Sequence[bool], allowance: Allowance | None = None
    ) -> None:
        self._language = language
        self._allowance = allowance or Allowance(SECONDS)
        self._lines = lines
        self._going = going
        self._widths = [len(line) - len(line.lstrip(b" \t")) if line.strip() else -1 for line in lines]
        self._left = PARSES
        self._bytes = READINGS * sum(map(len, lines))

    def broken(self, first: int, last: int) -> list[int]:
        """Numbers of the lines, of those from `first` up to `last`, that do not parse: the innermost block's. None where parsing costs
        too much."""
        try:
            return self._broken(first, last)
        except ParseBudgetExceeded:
            return []

    def _broken(self, first: int, last: int) -> list[int]:
        for begin, end in self._blocks(first, last):
            if self._left <= 0 or self._bytes <= 0:
                return []
            if self._parses(begin, end):
                continue
            width = min((w for w in self._widths[begin:end] if w >= 0), default=0)
            own = [n for n in range(begin, end) if 0 <= self._widths[n] <= width]
            for start, stop in zip(own, [*own[1:], end], strict=True):
                if stop - start > 1 and (inner := self._broken(start + 1, stop)):
                    return inner
            return own
        return []

    def _blocks(self, first: int, last: int) -> list[tuple[int, int]]:
        width = min((w for w in self._widths[first:last] if w >= 0), default=0)
        starts = [n for n in range(first, last) if 0 <= self._widths[n] <= width and not self._going[n]]
        if not starts or starts[0] > first:
            starts.insert(0, first)
        return list(zip(starts, [*starts[1:], last], strict=True))

    def _parses(self, first: int, last: int) -> bool:
        text = b"\n".join(self._lines[first:last])
        if not text.strip():
            return True
        for before, after in WRAPPERS.get(self._language.id, ((b"", b""),)):
            self._left -= 1
            self._bytes -= len(text)
            if not parse_root(self._language, before + text + after, self._allowance).has_error:
                return True
        return False
