"""Repairs of Python blocks in which all lines are indented too little or too much.

Such a block comes from code that was pasted, or from a header that was added above its lines. No edit of one line
repairs it.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator

from lsp_harness.coding.repair.repair import Repair, RepairRequest
from lsp_harness.syntax.lexemes import read_lexemes
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.code_lines import byte_indentation_of
from lsp_harness.text.edit import Edit, apply

KIND = "block indentation"
"""The kind that the user reads."""
NO_BLOCK = "expected an indented block"
TOO_DEEP = "unexpected indent"
"""Messages of the Python compiler about the first line of such a block. Each is the beginning of the whole message."""
LIKELY_COST, OTHER_COST = 1.0, 1.5
"""Costs of a block with the usual end, and of the others below a `def` or a `class`."""
MAX_STATEMENTS = 5
"""Most statements of a block that does not reach to the end of the lines of its indentation."""
DEFINITION = re.compile(rb"(?:async\s+def|def|class)\b|@")
CLASS = re.compile(rb"class\b")
CONTINUATION = re.compile(rb"(?:else|elif|except|finally|case)\b")
"""The beginning of a line that belongs to the statement above it."""


async def indent_block(request: RepairRequest) -> list[Repair]:
    """Return repairs of a syntax error that shift several lines of Python to the right or to the left.

    Args:
        request: The finding and its text.
    """
    if request.subject.kind != "syntax" or request.tree.language.block != "indent":
        return []
    # the text is compiled once for each repair
    return await asyncio.to_thread(lambda: list(_find_shifts(request.tree)))


def _find_shifts(tree: SyntaxTree) -> Iterator[Repair]:
    fault = find_python_fault(tree.data)
    if fault is None or not fault.message.startswith((NO_BLOCK, TOO_DEEP)):
        return
    document = tree.document
    first = document.line_of(fault.start)
    code = _read_code_lines(tree)
    above = next((number for number in range(first - 1, -1, -1) if number in code), None)
    if first not in code or above is None:
        return
    indentation, indentation_above = byte_indentation_of(code[first]), byte_indentation_of(code[above])
    if fault.message.startswith(NO_BLOCK):
        if indentation != indentation_above:
            # the block has no lines at all
            return
        old, new = indentation, indentation + _find_unit(code.values())
        ends = _find_block_ends(code, first, code[above].lstrip())
    elif indentation.startswith(indentation_above):
        old, new = indentation, indentation_above
        ends = [(_find_run_end(code, first, indentation), LIKELY_COST)]
    else:
        return
    for end, cost in ends:
        edits = tuple(
            Edit(document.line_starts[number], document.line_starts[number] + len(old), new)
            for number in code
            if first <= number < end and code[number].startswith(old)
        )
        if len(edits) < 2:
            # `repair_tokens` corrects single lines
            continue
        left = find_python_fault(apply(tree.data, edits))
        growth = len(edits) * (len(new) - len(old))
        if left is None or (end < len(document.line_starts) and left.start >= document.line_starts[end] + growth):
            yield Repair(KIND, edits, cost)


def _read_code_lines(tree: SyntaxTree) -> dict[int, bytes]:
    """Return number → text of each line with code or a comment. Lines within a string are left out."""
    document = tree.document
    within_string = {
        number
        for token in read_lexemes(tree)
        if b"\n" in token.text
        for number in range(token.line + 1, document.line_of(token.end) + 1)
    }
    lines = {number: document.line(number) for number in range(len(document.line_starts))}
    return {number: line for number, line in lines.items() if line.strip() and number not in within_string}


def _find_unit(lines: Iterable[bytes]) -> bytes:
    """Return one step of indentation as these lines have it."""
    return min((found for line in lines if (found := byte_indentation_of(line))), key=len, default=b"    ")


def _find_run_end(code: dict[int, bytes], first: int, indentation: bytes) -> int:
    """Return the number of the line after the last one that is indented as deep as `indentation`, or deeper."""
    end = first
    for number in (number for number in code if number >= first):
        if not code[number].startswith(indentation):
            break
        end = number + 1
    return end


def _find_block_ends(code: dict[int, bytes], first: int, header: bytes) -> list[tuple[int, float]]:
    """Return where a block may end that begins below a header, as the number of the line after it, with the costs."""
    indentation = byte_indentation_of(code[first])
    run_end = _find_run_end(code, first, indentation)
    starts = [
        number
        for number in code
        if first < number < run_end
        and byte_indentation_of(code[number]) == indentation
        and not CONTINUATION.match(code[number].lstrip())
    ]
    is_definition, is_class = bool(DEFINITION.match(header)), bool(CLASS.match(header))
    if is_definition and not is_class:
        # the next function at this level is no part of the body
        run_end = next((number for number in starts if DEFINITION.match(code[number].lstrip())), run_end)
    ends = [*(number for number in starts[:MAX_STATEMENTS] if number < run_end), run_end]
    return [(end, OTHER_COST if is_definition and end != run_end else LIKELY_COST) for end in ends]
