"""What a text declares while it is edited, at the cost of what an edit changed.

What was found in the tree before stays, moved, where neither an edit nor a change of the tree touches it; the query is asked about
the rest. That gives what `declared` says of the new text, as a pattern says nothing of a node but what is in it, next to it,
and of which kinds the nodes around it are; where that is another, tree-sitter says so (`Tree.changed_ranges`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, overload

from tree_sitter import Node

from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.symbols.declarations import (
    Declaration,
    SymbolRow,
    collect_rows,
    find_symbol_rows,
    is_more_specific,
    nest_rows,
    row_order,
)
from lsp_harness.syntax.tree import SyntaxTree, shift_nodes
from lsp_harness.syntax.tree_query import load_query, matches
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.shifted import Shifted

QUERY = "symbols"
MAX_PARTIAL_BYTES = 20_000
"""Bytes of a change from which on all of the text is asked about, if the change is more than half of it."""


class _Change(NamedTuple):
    """The bytes from `start` up to `old` are now those up to `new`, which may be the same in part."""

    start: int
    old: int
    new: int

    def then(self, start: int, old: int, new: int) -> "_Change":
        """This change and a later one as one."""
        end = max(self.new, old)
        return _Change(min(self.start, start), self.old + end - self.new, end + new - old)


class _Unit:
    """What was found in a stretch of the text in which everything overlaps, as it was then."""

    __slots__ = ("_at", "_declared", "_placed", "end", "rows", "start")

    def __init__(self, rows: Sequence[SymbolRow]) -> None:
        self.rows = rows
        self.start, self.end = rows[0].start, max(row.end for row in rows)
        self._declared: list[Declaration] | None = None
        self._at = 0, 0, 0
        self._placed: list[Declaration] = []

    def declarations(self, by: int, lines: int, first: int) -> list[Declaration]:
        """Moved by bytes and lines; `first` is the place of the first in the list of all."""
        if self._declared is None:
            self._declared = self._placed = nest_rows(self.rows)
        if self._at != (by, lines, first):
            self._at = by, lines, first
            self._placed = [
                Declaration(kind, name, start + by, end + by, named + by, body + by, line + lines, up, owner, bases)
                for kind, name, start, end, named, body, line, parent, owner, bases in self._declared
                for up in (parent + first if parent >= 0 else -1,)
            ]
        return self._placed


def _units(rows: Sequence[SymbolRow]) -> Iterator[_Unit]:
    first = end = 0
    for n, row in enumerate(rows):
        if row.start >= end and n > first:
            yield _Unit(rows[first:n])
            first = n
        end = max(end, row.end)
    if rows:
        yield _Unit(rows[first:])


class _DeclarationList(Sequence[Declaration]):
    """Declarations that are put where they are now when the first of them is read."""

    def __init__(self, units: list[_Unit], starts: Shifted, lines: Shifted) -> None:
        self._from = units, starts, lines

    @cached_property
    def _all(self) -> list[Declaration]:
        listed: list[Declaration] = []
        for unit, start, lines in zip(*self._from, strict=True):
            listed += unit.declarations(start - unit.start, lines, len(listed))
        return listed

    @overload
    def __getitem__(self, at: int) -> Declaration: ...
    @overload
    def __getitem__(self, at: slice) -> list[Declaration]: ...
    def __getitem__(self, at: int | slice) -> Declaration | list[Declaration]:
        return self._all[at]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self._all)


class IncrementalDeclarations:
    """The declarations of a text that is edited."""

    def __init__(self, tree: SyntaxTree) -> None:
        self._start(tree)

    def record_edit(self, before: Document, edit: Edit, after: Document) -> None:
        """One edit; call in order."""
        if before.data is not self._text and before.data != self._text:
            self._text = None
            return
        start, end, new = edit
        edited = start, end, start + len(new)
        self._text = after.data
        self._change = self._change.then(*edited) if self._change else _Change(*edited)
        shift_nodes(self._old, before, edit, after)

    def list_declarations(self, tree: SyntaxTree) -> Sequence[Declaration]:
        """Those of the tree of the text, in its order, outer ones first; all edits since the last call are told."""
        if tree.data is not self._text and tree.data != self._text:
            self._start(tree)
        elif self._change:
            self._follow(tree, self._change)
        return _DeclarationList(self._units, self._starts, self._lines)

    def _start(self, tree: SyntaxTree) -> None:
        rows = find_symbol_rows(tree.language, tree.data, tree.root)
        self._units = list(_units(rows))
        self._starts = Shifted([unit.start for unit in self._units])
        self._lines = Shifted([0] * len(self._units))
        """By how many each unit is further down than when it was made."""
        self._keep(tree)

    def _keep(self, tree: SyntaxTree) -> None:
        self._data = tree.data
        self._text: bytes | None = tree.data
        """That as all edits have left it; None where one was of another text."""
        self._old = tree.tree.copy()
        self._change: _Change | None = None

    def _follow(self, tree: SyntaxTree, change: _Change) -> None:
        for part in self._old.changed_ranges(tree.tree):
            # a range of the new text, as all of the old tree has moved
            old = part.start_byte, part.end_byte, part.end_byte
            change = change.then(*old)
        change = _include_blanks(tree.data, change)
        # tags say of a name what is best said of it in all of the text
        if change.new - change.start > max(MAX_PARTIAL_BYTES, len(tree.data) // 2) or not tree.language.queries:
            self._start(tree)
            return
        self._replace(tree, change)
        self._keep(tree)

    def _replace(self, tree: SyntaxTree, change: _Change) -> None:
        """Ask about what changed, and keep of the units that it touches what it does not touch."""
        by = change.new - change.old
        lines = tree.data.count(b"\n", change.start, change.new) - self._data.count(b"\n", change.start, change.old)
        new = list(_find_rows(tree, change))
        # what is new may be around units that no change touches
        begin = min([change.start, *(row.start + 1 for row in new)])
        end = max([change.old, *(row.end - by - 1 for row in new)])
        first, last = self._starts.find(begin - 1), self._starts.find(end)
        while first and self._units[first - 1].end + self._starts[first - 1] - self._units[first - 1].start >= begin:
            first -= 1
        kept = [row for n in range(first, last) for row in self._kept(n, change, by, lines)]
        units = list(_units(sorted(_merge_rows(kept, new), key=row_order)))
        # what was handed out before stays as it was
        self._units = [*self._units[:first], *units, *self._units[last:]]
        self._starts = self._starts.replaced(first, last, [unit.start for unit in units], by)
        self._lines = self._lines.replaced(first, last, [0] * len(units), lines)

    def _kept(self, n: int, change: _Change, by: int, lines: int) -> Iterator[SymbolRow]:
        """What no change touches of a unit, where it is now."""
        unit, down = self._units[n], self._lines[n]
        on = self._starts[n] - unit.start
        for row in unit.rows:
            if row.end + on < change.start:
                yield _shift_row(row, on, down)
            elif row.start + on > change.old:
                yield _shift_row(row, on + by, down + lines)


def _merge_rows(kept: Sequence[SymbolRow], new: Sequence[SymbolRow]) -> list[SymbolRow]:
    """What is kept and what is new, each name once."""
    known = {row.name_start: row.kind for row in kept if row.name_start >= 0}
    new = [row for row in new if row.name_start not in known or not is_more_specific(known[row.name_start], row.kind)]
    again = {row.name_start for row in new if row.name_start >= 0}
    return [*(row for row in kept if row.name_start not in again), *new]


def _find_rows(tree: SyntaxTree, change: _Change) -> Iterator[SymbolRow]:
    """What is found in the new tree that the change touches."""
    for row in collect_rows(tree.data, _matches(tree.language, tree.root, change), _line_of(tree.document)):
        if row.start <= change.new and row.end >= change.start:
            yield row


def _line_of(document: Document) -> Callable[[int], int]:
    return document.line_of if b"\r" not in document.data else lambda at: document.point(at)[0]


def _matches(language: Language, node: Node, change: _Change) -> Iterator[Mapping[str, Sequence[Node]]]:
    """Matches around and in a change within a node of which patterns say nothing but what is in its children.

    To ask about the node itself, as is the root, or what is between the guards of a header, takes as long as it has children.
    """
    deeper = [_match_children(language, node, change)]
    while deeper:
        match next(deeper[-1], None):
            case None:
                deeper.pop()
            case Node() as child:
                deeper.append(_match_children(language, child, change))
            case match:
                yield match


def _match_children(language: Language, node: Node, change: _Change) -> Iterator[Mapping[str, Sequence[Node]] | Node]:
    """Matches, and between them the children that the same is to be asked of."""
    within = max(0, change.start - 1), change.new + 1
    if node.is_error:
        yield from matches(language, QUERY, node, within)
        return
    cursor = node.walk()
    more = cursor.goto_first_child_for_byte(within[0]) is not None
    while more and (child := cursor.node) and child.start_byte <= change.new:
        if load_query(language, f"{QUERY}@{child.type}"):
            yield child
        else:
            yield from matches(language, QUERY, child, within)
        yield from matches(language, f"{QUERY}@{node.type}", child, depth=0)
        more = cursor.goto_next_sibling()


def _include_blanks(data: bytes, change: _Change) -> _Change:
    """A change with the blanks around it: what is next to it may be matched for what stands beside it."""
    start, new = change.start, change.new
    while start and data[start - 1 : start].isspace():
        start -= 1
    while data[new : new + 1].isspace():
        new += 1
    return _Change(start, change.old + new - change.new, new)


def _shift_row(row: SymbolRow, by: int, lines: int) -> SymbolRow:
    if not by and not lines:
        return row
    start, end, named, kind, name, last, body, line, owner = row
    named += by if named >= 0 else 0
    return SymbolRow(start + by, end + by, named, kind, name, last + by, body + by, line + lines, owner)
