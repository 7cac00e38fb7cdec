"""Syntax errors, and which of them an edit is to blame for.

tree-sitter always gives a tree: what it could not understand is an ERROR node, what it had to imagine is a MISSING one.
How far an ERROR reaches depends on everything around it, so faults are compared by where they are and how much they
cover, never for equality. For Python the compiler has the last word: it knows about indentation, which the grammar
forgives, and says more clearly what is wrong.
"""

import ast
import warnings
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.error_regions import Region, find_new_regions, minimize_edits
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.syntax.tree_query import captures
from lsp_harness.text.document import Document, line_starts
from lsp_harness.text.edit import Edit, apply, between
from lsp_harness.text.position import decode, encode
from lsp_harness.text.surrogates import wellformed

CLOSING_TOKENS = {"(": ")", "[": "]", "{": "}", "${": "}", "#{": "}"}

_warnings_lock = Lock()


@dataclass(frozen=True, slots=True)
class Fault:
    """One syntax error. The range is what a person should look at, not all that the parser gave up on."""

    start: int
    end: int
    message: str
    kind: Literal["unexpected", "missing", "compile"]


def find_faults(tree: SyntaxTree) -> list[Fault]:
    """All syntax errors in source order."""
    return [_fault(tree, node) for node in _broken_nodes(tree)]


def find_error_regions(tree: SyntaxTree) -> list[Region]:
    """What the parser gave up on or imagined, in source order: one for each of `faults`."""
    return [_region(node) for node in _broken_nodes(tree)]


def find_new_faults(before: SyntaxTree, after: SyntaxTree, edits: Sequence[Edit]) -> list[Fault]:
    """The syntax errors of `after`, which is `before` with `edits` applied, that were not there before.

    `edits` have the offsets of `before`. A text that had errors is not blamed for them, nor for their having moved.
    """
    if before.language.id == "python" and find_python_fault(before.data) is None:
        fault = find_python_fault(after.data)
        return [fault] if fault else []
    return find_new_tree_faults(before, after, edits)


def find_new_tree_faults(
    before: SyntaxTree, after: SyntaxTree, edits: Sequence[Edit], *, thorough: bool = True
) -> list[Fault]:
    """As `new_faults`, by the parser's word alone. If not `thorough`, an old error that swallows the edit is a new one."""
    nodes = _broken_nodes(after)
    if not nodes:
        return []
    old, new = [_region(node) for node in _broken_nodes(before)], [_region(node) for node in nodes]
    found = find_new_regions(old, new, minimize_edits(before.data, edits), after.data)
    if found and old and thorough:
        # An unclosed bracket swallows whatever is written after it, so what an innocent edit in the same places would
        # be found guilty of is not held against this one.
        innocent = [_harmless_edit(before, edit) for edit in between(before.data, after.data)]
        control = parse(Document.of(before.document.uri, apply(before.data, innocent), language=before.language.id))
        control_regions = [_region(node) for node in _broken_nodes(control)] if control else []
        excused = Counter(
            control_regions[excuse].token
            for excuse in find_new_regions(old, control_regions, innocent, control.data if control else b"")
        )
        accused, found = found, list[int]()
        for index in accused:
            if excused[new[index].token] > 0:
                excused[new[index].token] -= 1
            else:
                found.append(index)
    return [_fault(after, nodes[index]) for index in found]


@lru_cache(maxsize=16)
def find_python_fault(data: bytes) -> Fault | None:
    """What Python's own compiler has against a text, None if nothing. Remembered: candidates share what was before."""
    mark = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    try:
        # Columns are right for text only. What is not UTF-8 says itself what it is, and the compiler reads that.
        source = wellformed(data[mark:]).decode()
    except UnicodeDecodeError:
        source = data
    try:
        # The filters are the process's: without the lock two threads could restore each other's.
        with _warnings_lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<text>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        starts = line_starts(data)
        line = min(max(error.lineno or 1, 1), len(starts)) - 1
        first = starts[line] or mark
        text = data[first : starts[line + 1] if line + 1 < len(starts) else len(data)].rstrip()
        column = min(len(encode(decode(text)[: max((error.offset or 1) - 1, 0)])), len(text))
        column += len(text[column:]) - len(text[column:].lstrip())
        return Fault(first + column, first + len(text), error.msg, "compile")
    except (ValueError, RecursionError, MemoryError):
        # A NUL, or nesting that the compiler cannot follow: nothing it could say about the syntax.
        return None
    return None


def _broken_nodes(tree: SyntaxTree) -> list[Node]:
    """The outermost ERROR nodes, the MISSING ones, and what the grammar forgives but `faults.scm` does not."""
    found = [*_outermost_broken_nodes(tree.root), *captures(tree.language, "faults", tree.root).get("fault", [])]
    return sorted(found, key=lambda node: (node.start_byte, node.end_byte))


def _outermost_broken_nodes(node: Node) -> Iterator[Node]:
    # no recursion: a string that is joined of a thousand parts is a tree a thousand deep
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            waiting += reversed(node.children)


def _region(node: Node) -> Region:
    return Region(node.start_byte, node.end_byte, node.type if node.is_missing else "")


def _harmless_edit(tree: SyntaxTree, edit: Edit) -> Edit:
    """An edit of whole lines that keeps the old ones and adds, instead of each one more, a line nobody could mind."""
    call = b"x();" if tree.language.block == "braces" else b"x()"
    added = edit.new.splitlines(keepends=True)[tree.data.count(b"\n", edit.start, edit.end) :]
    lines = (line.replace(line.strip(), call) if line.strip() else line for line in added)
    return Edit(edit.end, edit.end, b"".join(lines))


def _fault(tree: SyntaxTree, node: Node) -> Fault:
    if node.is_missing:
        what = node.type.replace("_", " ") if node.is_named else f"`{node.type}`"
        return Fault(node.start_byte, node.end_byte, f"missing {what}", "missing")
    opened: list[Node] = []
    inner: Node | None = None
    for leaf in _leaves(node):
        if leaf.is_error:
            inner = inner or leaf
        elif leaf.type in CLOSING_TOKENS:
            opened.append(leaf)
        elif leaf.type in CLOSING_TOKENS.values():
            if not opened or CLOSING_TOKENS.get(opened.pop().type) != leaf.type:
                return Fault(leaf.start_byte, leaf.end_byte, f"unexpected `{leaf.type}`", "unexpected")
        elif leaf.type == "string_start":
            opened.append(leaf)
        elif leaf.type == "string_end" and opened and opened[-1].type == "string_start":
            opened.pop()
    culprit = inner or (opened[-1] if opened else None)
    start = culprit.start_byte if culprit else node.start_byte
    end = culprit.end_byte if culprit else node.end_byte
    lines = tree.data[start:end].splitlines()
    text = lines[0].rstrip() if lines else b""
    shown = decode(text) if len(text) <= 40 else decode(text[:40]).rstrip("\ufffd") + "…"
    message = f"`{shown}` is never closed" if culprit and culprit is not inner else f"unexpected `{shown}`"
    return Fault(start, start + len(text), message, "unexpected")


def _leaves(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if not node.child_count:
            yield node
        waiting += reversed(node.children)
