"""The syntax errors of a text, and those that an edit has added.

tree-sitter always returns a tree. Text that fits no rule becomes an ERROR node, and a token that is required but absent
becomes a MISSING node. The extent of an ERROR node depends on everything around it. Errors are therefore compared by
their place and by the amount of text that they cover, never for equality. For Python the compiler decides: it checks
the indentation, which the grammar does not, and its messages are clearer.
"""

import ast
import warnings
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, Literal

from tree_sitter import Node

from lsp_harness.syntax.error_regions import Region, find_new_regions, minimize_edits
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.syntax.tree_query import captures
from lsp_harness.text.document import Document, line_starts
from lsp_harness.text.edit import Edit, apply, line_edits
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.text.surrogates import to_valid_utf8

_warnings_lock = Lock()


def compile_python(data: bytes, flags: int = 0) -> Any:
    """Compile a text as the cell of a notebook, which may `await` outside a function.

    Args:
        data: The text, with or without a byte order mark.
        flags: Further flags of `compile`.

    Returns:
        The code object, or the syntax tree with `ast.PyCF_ONLY_AST`.

    Raises:
        SyntaxError: The text is no Python.
        ValueError, RecursionError, MemoryError: The text has a NUL byte, or is nested too deeply. This says nothing
            about its syntax.
    """
    mark = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    try:
        # The compiler reports correct columns only for `str`. Text in another encoding declares it, and the compiler
        # reads the declaration.
        source = to_valid_utf8(data[mark:]).decode()
    except UnicodeDecodeError:
        source = data
    # The warning filters belong to the process. Without the lock two threads could restore each other's filters.
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, "<text>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | flags, dont_inherit=True)


def dump_python(data: bytes) -> str | None:
    """Return the syntax tree of a text as text, or None if it does not compile.

    Texts with the same dump differ in comments, blanks and line breaks only.
    """
    try:
        return ast.dump(compile_python(data, ast.PyCF_ONLY_AST))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


CLOSING_TOKENS = {"(": ")", "[": "]", "{": "}", "${": "}", "#{": "}"}


@dataclass(frozen=True, slots=True)
class Fault:
    """One syntax error. The byte range is the part to show to the user, which is often smaller than the ERROR node."""

    start: int
    end: int
    message: str
    kind: Literal["unexpected", "missing", "compile"]


def find_faults(tree: SyntaxTree) -> list[Fault]:
    """Return all syntax errors of a tree in the order of the source."""
    return [_make_fault(tree, node) for node in _broken_nodes(tree)]


def find_error_regions(tree: SyntaxTree) -> list[Region]:
    """Return the byte ranges of the ERROR and MISSING nodes: one for each fault of `find_faults`, in the same order."""
    return [_make_region(node) for node in _broken_nodes(tree)]


def find_new_faults(before: SyntaxTree, after: SyntaxTree, edits: Sequence[Edit]) -> list[Fault]:
    """Return the syntax errors that edits have added. Old errors that have only moved are left out.

    Args:
        before: The tree before the edits.
        after: The tree after the edits.
        edits: The edits, with offsets of `before`.
    """
    if before.language.compiles_in_process and find_python_fault(before.data) is None:
        fault = find_python_fault(after.data)
        return [fault] if fault else []
    return find_new_tree_faults(before, after, edits)


def find_new_tree_faults(
    before: SyntaxTree, after: SyntaxTree, edits: Sequence[Edit], *, thorough: bool = True
) -> list[Fault]:
    """Return the syntax errors that edits have added according to the tree-sitter parser alone.

    Args:
        before: The tree before the edits.
        after: The tree after the edits.
        edits: The edits, with offsets of `before`.
        thorough: Whether an old error that has grown over the new text is left out. This costs another parse.
    """
    nodes = _broken_nodes(after)
    if not nodes:
        return []
    old, new = [_make_region(node) for node in _broken_nodes(before)], [_make_region(node) for node in nodes]
    added = find_new_regions(old, new, minimize_edits(before.data, edits), after.data)
    if added and old and thorough:
        added = _without_unavoidable(before, after, old, new, added)
    return [_make_fault(after, nodes[index]) for index in added]


def _without_unavoidable(
    before: SyntaxTree, after: SyntaxTree, old: Sequence[Region], new: Sequence[Region], added: Sequence[int]
) -> list[int]:
    """Return the added errors without those that a harmless edit in the same places would add too.

    An unclosed bracket, for example, makes an error of any text that is written after it.
    """
    harmless = [_harmless_edit(before, edit) for edit in line_edits(before.data, after.data)]
    data = apply(before.data, harmless)
    control = parse(Document.from_text(before.document.uri, data, language=before.language.id))
    control_regions = [_make_region(node) for node in _broken_nodes(control)] if control else []
    control_added = find_new_regions(old, control_regions, harmless, control.data if control else b"")
    unavoidable = Counter(control_regions[index].token for index in control_added)
    remaining: list[int] = []
    for index in added:
        if unavoidable[new[index].token] > 0:
            unavoidable[new[index].token] -= 1
        else:
            remaining.append(index)
    return remaining


@lru_cache(maxsize=16)
def find_python_fault(data: bytes) -> Fault | None:
    """Return the first syntax error that the Python compiler reports, or None.

    The results are cached, because the checks of all candidates compile the same original text.
    """
    mark = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    try:
        # a `return` outside a function is only found when code is generated
        compile_python(data)
    except SyntaxError as error:
        starts = line_starts(data)
        line = min(max(error.lineno or 1, 1), len(starts)) - 1
        first = starts[line] or mark
        text = data[first : starts[line + 1] if line + 1 < len(starts) else len(data)].rstrip()
        column = min(len(encode(decode(text)[: max((error.offset or 1) - 1, 0)])), len(text))
        column += len(text[column:]) - len(text[column:].lstrip())
        return Fault(first + column, first + len(text), error.msg, "compile")
    except (ValueError, RecursionError, MemoryError):
        # the compiler says nothing about the syntax
        return None
    return None


def _broken_nodes(tree: SyntaxTree) -> list[Node]:
    """Return the outermost ERROR nodes, the MISSING nodes, and the nodes that the query `faults.scm` reports."""
    nodes = [*_outermost_broken_nodes(tree.root), *captures(tree.language, "faults", tree.root).get("fault", [])]
    return sorted(nodes, key=lambda node: (node.start_byte, node.end_byte))


def _outermost_broken_nodes(node: Node) -> Iterator[Node]:
    # There is no recursion, as a string that is joined from a thousand parts makes a tree of a thousand levels.
    stack = [node]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            stack += reversed(node.children)


def _make_region(node: Node) -> Region:
    return Region(node.start_byte, node.end_byte, node.type if node.is_missing else "")


def _harmless_edit(tree: SyntaxTree, edit: Edit) -> Edit:
    """Return an edit that keeps the old lines and adds a harmless line for each line that the given edit adds."""
    call = b"x();" if tree.language.block == "braces" else b"x()"
    added_lines = edit.new.splitlines(keepends=True)[tree.data.count(b"\n", edit.start, edit.end) :]
    lines = (line.replace(line.strip(), call) if line.strip() else line for line in added_lines)
    return Edit(edit.end, edit.end, b"".join(lines))


def _make_fault(tree: SyntaxTree, node: Node) -> Fault:
    if node.is_missing:
        token = node.type.replace("_", " ") if node.is_named else f"`{node.type}`"
        return Fault(node.start_byte, node.end_byte, f"missing {token}", "missing")
    openers: list[Node] = []
    inner_error: Node | None = None
    for leaf in _leaves(node):
        if leaf.is_error:
            inner_error = inner_error or leaf
        elif leaf.type in CLOSING_TOKENS:
            openers.append(leaf)
        elif leaf.type in CLOSING_TOKENS.values():
            if not openers or CLOSING_TOKENS.get(openers.pop().type) != leaf.type:
                return Fault(leaf.start_byte, leaf.end_byte, f"unexpected `{leaf.type}`", "unexpected")
        elif leaf.type == "string_start":
            openers.append(leaf)
        elif leaf.type == "string_end" and openers and openers[-1].type == "string_start":
            openers.pop()
    culprit = inner_error or (openers[-1] if openers else None)
    start = culprit.start_byte if culprit else node.start_byte
    end = culprit.end_byte if culprit else node.end_byte
    lines = tree.data[start:end].splitlines()
    text = lines[0].rstrip() if lines else b""
    excerpt = decode(text) if len(text) <= 40 else decode(text[:40]).rstrip("\ufffd") + "…"
    is_unclosed = culprit and culprit is not inner_error
    message = f"`{excerpt}` is never closed" if is_unclosed else f"unexpected `{excerpt}`"
    return Fault(start, start + len(text), message, "unexpected")


def _leaves(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        if not node.child_count:
            yield node
        stack += reversed(node.children)


def find_remaining_faults(before: SyntaxTree, after: SyntaxTree, edits: Sequence[Edit], place: Span) -> list[Fault]:
    """Return the syntax errors that show that an error was not repaired.

    An error at another place that has the same extent as before the edits is a different error and is left out. An
    error counts if it touches an edit, has grown or shrunk, or is new: where the parser reports an error depends on
    everything around it. If all errors at `place` are unchanged, they count too.

    Args:
        before: The tree before the edits.
        after: The tree after the edits.
        edits: The edits, with offsets of `before`.
        place: Where the error to be repaired is in `before`.
    """
    targets = {
        (_shift_offset(region.start, edits), _shift_offset(region.end, edits))
        for region in find_error_regions(before)
        if region.start <= max(place.end, place.start + 1) and region.end >= place.start
    }
    old = {
        (_shift_offset(region.start, edits), _shift_offset(region.end, edits), region.token)
        for region in find_error_regions(before)
    }
    new = find_error_regions(after)
    unchanged = [(region.start, region.end, region.token) in old and not _touches_edit(region, edits) for region in new]
    # Edits that leave every error unchanged have repaired none.
    if unchanged and len(unchanged) >= len(old):
        return find_faults(after)
    unchanged_spans = {(region.start, region.end) for region, same in zip(new, unchanged, strict=True) if same}
    targets_remain = targets <= unchanged_spans
    remaining = [
        fault
        for fault, region, same in zip(find_faults(after), new, unchanged, strict=True)
        if not same or (targets_remain and (region.start, region.end) in targets)
    ]
    if not remaining and after.language.compiles_in_process and (fault := find_python_fault(after.data)):
        # The compiler reports only its first error. If the parser does not see that error, it always counts.
        remaining = [] if any(unchanged) and not _fault_touches_edit(fault, edits) else [fault]
    return remaining


def _shift_offset(offset: int, edits: Sequence[Edit]) -> int:
    shift = sum(len(edit.new) - (edit.end - edit.start) for edit in edits if edit.end <= offset)
    return offset + shift


def _touches_edit(region: Region, edits: Sequence[Edit]) -> bool:
    shift = 0
    for start, end, new in sorted(edits):
        if region.start <= start + shift + len(new) and region.end >= start + shift:
            return True
        shift += len(new) - (end - start)
    return False


def _fault_touches_edit(fault: Fault, edits: Sequence[Edit]) -> bool:
    return _touches_edit(Region(fault.start, fault.end), edits)
