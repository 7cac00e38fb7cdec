"""Corrections of the indentation of Python lines."""

from collections.abc import Iterator

from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.text.code_lines import byte_indentation_of
from lsp_harness.text.edit import Edit

MAX_INDENTATIONS = 8
"""Maximum number of indentations that are tried for one line."""


def indentations(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield other indentations of the line of the fault and of the code line before it.

    They are the indentations of the lines above, and one step more.
    """
    if broken_text.language.block != "indent":
        return
    fault = find_python_fault(broken_text.data)
    if fault is None:
        return
    document = broken_text.tree.document
    lines = [document.line(number) for number in range(document.line_of(fault.start) + 1)]
    for number in _code_lines(lines)[:2]:
        start = document.line_starts[number]
        line = lines[number]
        old = byte_indentation_of(line)
        lines_above = [lines[other] for other in _code_lines(lines[:number])]
        for lead, note in _open_indentations(lines_above):
            if lead != old:
                yield Trial(
                    Edit(start, start + len(old), lead),
                    "replace",
                    b"indentation",
                    broken_text.token_at(start),
                    -1,
                    note,
                )


def _open_indentations(lines_above: list[bytes]) -> list[tuple[bytes, str]]:
    """Return the indentations of the open blocks above a line, the innermost first, each with a note.

    After a header the first is one step deeper.
    """
    if not lines_above:
        return [(b"", "outermost")]
    notes: dict[bytes, str] = {}
    last = lines_above[0]
    lead = byte_indentation_of(last)
    if last.rstrip().endswith(b":"):
        notes[lead + (b"\t" if lead.startswith(b"\t") else b"    ")] = "body"
    else:
        notes[lead] = "as before"
    for line in lines_above:
        other = byte_indentation_of(line)
        if len(other) <= len(lead) and other not in notes:
            notes[other] = "outer"
            lead = other
        if not other:
            break
    return list(notes.items())[:MAX_INDENTATIONS]


def _code_lines(lines: list[bytes]) -> list[int]:
    """Return the numbers of the lines with code, the last first."""
    return [
        number
        for number in range(len(lines) - 1, -1, -1)
        if lines[number].strip() and not lines[number].lstrip().startswith(b"#")
    ]
