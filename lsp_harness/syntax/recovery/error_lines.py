"""Search for the lines of a fault by parsing the blocks of a text one by one.

Even if the parser reports the whole file as an error, the indentation shows the blocks. A block that parses on its own
does not contain the fault.
"""

from collections.abc import Sequence

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.parse_budget import Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import parse_root
from lsp_harness.text.code_lines import byte_indentation_of

MAX_PARSES = 300
"""Maximum number of parses."""
MAX_READINGS = 5
"""Maximum number of bytes that are parsed, as a multiple of the size of the text."""
PARSE_TIME_S = 0.15
"""Maximum processor time of all parses together."""


class BrokenLineSearch:
    """The search in one text. If the allowance of its parses is spent, no line is found."""

    def __init__(
        self,
        language: LanguageSpec,
        lines: Sequence[bytes],
        continues: Sequence[bool],
        allowance: Allowance | None = None,
    ) -> None:
        """Begin a search.

        Args:
            language: The language of the text.
            lines: The lines of the text.
            continues: For each line whether it continues or ends a block of an earlier line.
            allowance: The processor time for all parses. The default is `PARSE_TIME_S`.
        """
        self._language = language
        self._allowance = allowance or Allowance(PARSE_TIME_S)
        self._lines = lines
        self._continues = continues
        self._widths = [len(byte_indentation_of(line)) if line.strip() else -1 for line in lines]
        self._remaining_parses = MAX_PARSES
        self._remaining_bytes = MAX_READINGS * sum(map(len, lines))

    def find_lines(self, first: int, last: int) -> list[int]:
        """Return the numbers of the lines of the innermost block that does not parse.

        Args:
            first: The first line to search.
            last: The line after the last one.

        Returns:
            Line numbers. The list is empty if everything parses or parsing costs too much.
        """
        try:
            return self._find_lines(first, last)
        except ParseBudgetExceeded:
            return []

    def _find_lines(self, first: int, last: int) -> list[int]:
        for begin, end in self._split_blocks(first, last):
            if self._remaining_parses <= 0 or self._remaining_bytes <= 0:
                return []
            if self._parses(begin, end):
                continue
            width = min((w for w in self._widths[begin:end] if w >= 0), default=0)
            own_lines = [n for n in range(begin, end) if 0 <= self._widths[n] <= width]
            for start, stop in zip(own_lines, [*own_lines[1:], end], strict=True):
                if stop - start > 1 and (inner := self._find_lines(start + 1, stop)):
                    return inner
            return own_lines
        return []

    def _split_blocks(self, first: int, last: int) -> list[tuple[int, int]]:
        width = min((w for w in self._widths[first:last] if w >= 0), default=0)
        starts = [n for n in range(first, last) if 0 <= self._widths[n] <= width and not self._continues[n]]
        if not starts or starts[0] > first:
            starts.insert(0, first)
        return list(zip(starts, [*starts[1:], last], strict=True))

    def _parses(self, first: int, last: int) -> bool:
        text = b"\n".join(self._lines[first:last])
        if not text.strip():
            return True
        for prefix, suffix in self._language.recovery.wrappers:
            self._remaining_parses -= 1
            self._remaining_bytes -= len(text)
            if not parse_root(self._language, prefix + text + suffix, self._allowance).has_error:
                return True
        return False
