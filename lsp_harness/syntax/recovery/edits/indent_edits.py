"""Lines of Python that are indented too far or not far enough."""

from collections.abc import Iterator

from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.text.edit import Edit

LEVELS = 8
"""How many widths are tried for one line."""


def indents(scene: Scene) -> Iterator[Trial]:
    """The line of the fault, and the line of code before it, indented as lines above it are, or one step further."""
    if scene.language != "python":
        return
    fault = find_python_fault(scene.data)
    if fault is None:
        return
    document = scene.tree.document
    lines = [document.line(number) for number in range(document.line_of(fault.start) + 1)]
    for number in _code_lines(lines)[:2]:
        start = document.starts[number]
        line = lines[number]
        width = len(line) - len(line.lstrip(b" \t"))
        above = [lines[other] for other in _code_lines(lines[:number])]
        for lead, note in _leads(above):
            if lead != line[:width]:
                yield Trial(
                    Edit(start, start + width, lead), "replace", b"indentation", scene.token_at(start), -1, note
                )


def _leads(above: list[bytes]) -> list[tuple[bytes, str]]:
    """The indentations of the blocks that are open above a line, the innermost first, and one step more behind a header."""
    if not above:
        return [(b"", "outermost")]
    found: dict[bytes, str] = {}
    last = above[0]
    lead = last[: len(last) - len(last.lstrip(b" \t"))]
    if last.rstrip().endswith(b":"):
        found[lead + (b"\t" if lead.startswith(b"\t") else b"    ")] = "body"
    else:
        found[lead] = "as before"
    for line in above:
        other = line[: len(line) - len(line.lstrip(b" \t"))]
        if len(other) <= len(lead) and other not in found:
            found[other] = "outer"
            lead = other
        if not other:
            break
    return list(found.items())[:LEVELS]


def _code_lines(lines: list[bytes]) -> list[int]:
    """Numbers of the lines with code, the last first."""
    return [
        number
        for number in range(len(lines) - 1, -1, -1)
        if lines[number].strip() and not lines[number].lstrip().startswith(b"#")
    ]
