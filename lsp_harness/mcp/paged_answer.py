"""An answer that is short enough for the prompt of an agent, and says how to get the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsp_harness.chat.tools.tool_input import fit_lines, shorten_line
from lsp_harness.files.secrets import redact

MAX_ANSWER_BYTES = 6_000
"""Bytes of an answer, about 1,500 tokens of code."""


@dataclass(frozen=True, slots=True)
class PagedAnswer:
    """The lines of an answer, of which one page is shown.

    Attributes:
        lines: All lines.
        remarks: What the reader should know about the whole answer, in each page.
    """

    lines: Sequence[str]
    remarks: Sequence[str] = ()

    def page(self, offset: int = 0, limit: int = MAX_ANSWER_BYTES) -> str:
        """Return the lines from a number on, without secrets, and how to get those after them.

        Args:
            offset: The number of lines that the reader has already.
            limit: The largest size in bytes.
        """
        # a secret may have several lines, so all are looked at
        lines = redact("\n".join(self.lines)).split("\n")
        start = min(max(offset, 0), len(lines))
        shown = fit_lines((shorten_line(line) for line in lines[start:]), limit)
        end = start + len(shown)
        rest = []
        if end < len(lines):
            rest = [f"… {len(lines) - end} more lines; call again with offset={end}"]
        elif not shown:
            rest = [f"there are only {len(lines)} lines"]
        return "\n".join([*shown, *rest, *(f"({remark})" for remark in self.remarks)])


def join_blocks(blocks: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of blocks with an empty line between them."""
    lines: list[str] = []
    for block in blocks:
        lines += [*([""] if lines else []), *block]
    return lines
