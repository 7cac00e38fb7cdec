"""Edits of Python sources at random places: mutations of function bodies, and changes of form only.

Both are drawn from a seed, so that a run can be repeated. A mutation may do nothing to the tests, and a change of form
may break one that reads its own source, so both are tried on the project's own tests before they count.
"""

import ast
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
OPPOSITES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.Is: ("is", "is not"),
}
OTHER_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
}
DYNAMIC_NAMES = {"locals", "vars", "eval", "exec", "dir", "globals"}
"""Functions that see the names of local variables."""


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """An edit of one file.

    Attributes:
        kind: What it changes.
        path: The file, relative to the project.
        replacements: Ranges of bytes and what replaces them, in the order of the text.
    """

    kind: str
    path: str
    replacements: tuple[tuple[int, int, bytes], ...]

    def apply(self, data: bytes) -> bytes:
        """Return the bytes of the file after the edit."""
        for start, end, new in reversed(self.replacements):
            data = data[:start] + new + data[end:]
        return data


class Source:
    """A file whose functions can be edited.

    Args:
        path: The path of the file, relative to the project.
        data: Its bytes.

    Raises:
        SyntaxError: It is no Python.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data
        self.tree = ast.parse(data)
        self._lines = [0]
        for line in data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    @property
    def functions(self) -> list[Function]:
        """All functions and methods."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]

    def range_of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the range of bytes of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._lines[node.lineno - 1] + node.col_offset
        return start, self._lines[node.end_lineno - 1] + node.end_col_offset

    def line_start(self, node: ast.stmt) -> int:
        """Return the first byte of the line in which a statement begins."""
        return self._lines[node.lineno - 1]

    def text_of(self, node: ast.expr) -> bytes:
        """Return the bytes of a node."""
        start, end = self.range_of(node)
        return self.data[start:end]

    def edit(self, kind: str, *replacements: tuple[int, int, bytes]) -> SourceEdit:
        """Return an edit of this file."""
        return SourceEdit(kind, self.path, tuple(sorted(replacements)))


def find_code(function: Function) -> list[ast.AST]:
    """Return the nodes of the body of a function, without docstrings, annotations and texts with expressions.

    Before Python 3.12, the places of expressions in a text are not right.
    """
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.ClassDef | Function):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        found.append(node)
        waiting += ast.iter_child_nodes(node)
    return found


def find_mutations(source: Source) -> Iterator[SourceEdit]:
    """Yield all mutations of the functions of a file."""
    for function in source.functions:
        for node in find_code(function):
            for kind, start, end, new in _mutate(source, node):
                yield source.edit(kind, (start, end, new))


def _mutate(source: Source, node: ast.AST) -> Iterator[tuple[str, int, int, bytes]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITES:
        old, new = OPPOSITES[type(node.ops[0])]
        if place := _find_operator(source, node.left, node.comparators[0], old):
            yield "comparison", *place, new.encode()
    if isinstance(node, ast.BinOp) and type(node.op) in OTHER_OPERATORS and not _is_text(node.left):
        old, new = OTHER_OPERATORS[type(node.op)]
        if place := _find_operator(source, node.left, node.right, old):
            yield "operator", *place, new.encode()
    if isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        place = _find_operator(source, node.values[0], node.values[1], old)
        if len(node.values) == 2 and place:
            yield "and or", *place, new.encode()
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", *source.range_of(node), str(not node.value).encode()
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield "constant", *source.range_of(node), str(node.value + 1).encode()
    if isinstance(node, ast.Return) and node.value and not _is_none(node.value):
        yield "return", *source.range_of(node.value), b"None"
    if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.NamedExpr):
        start, end = source.range_of(node.test)
        yield "condition", start, end, b"not (" + source.data[start:end] + b")"


def _find_operator(source: Source, left: ast.expr, right: ast.expr, text: str) -> tuple[int, int] | None:
    """Return the place of an operator, or None if something else lies between its operands."""
    start, end = source.range_of(left)[1], source.range_of(right)[0]
    found = re.fullmatch(rb"\s*(" + re.escape(text.encode()) + rb")\s*", source.data[start:end])
    return (start + found.start(1), start + found.end(1)) if found else None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def find_form_changes(source: Source) -> Iterator[SourceEdit]:
    """Yield changes of the functions of a file after which they do the same."""
    for function in source.functions:
        yield from _swap_operands(source, function)
        yield from _rename_locals(source, function)
        yield from _add_parentheses(source, function)
        yield from _add_lines(source, function)


def _swap_operands(source: Source, function: Function) -> Iterator[SourceEdit]:
    for node in find_code(function):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            left, right = node.left, node.comparators[0]
            # linters of projects forbid a constant in front
            if isinstance(left, ast.Name) and isinstance(right, ast.Name):
                texts = source.text_of(right), source.text_of(left)
                yield source.edit("operands", (*source.range_of(left), texts[0]), (*source.range_of(right), texts[1]))


def _rename_locals(source: Source, function: Function) -> Iterator[SourceEdit]:
    nodes = list(ast.walk(function))
    inner = (
        ast.Lambda,
        ast.ClassDef,
        ast.Global,
        ast.Nonlocal,
        ast.Import,
        ast.ImportFrom,
        ast.ExceptHandler,
        ast.Match,
    )
    if any(isinstance(node, inner) or (isinstance(node, Function) and node is not function) for node in nodes):
        return
    names = [node for node in nodes if isinstance(node, ast.Name)]
    if DYNAMIC_NAMES & {name.id for name in names}:
        return
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    in_texts = {
        name.id
        for text in nodes
        if isinstance(text, ast.JoinedStr)
        for name in ast.walk(text)
        if isinstance(name, ast.Name)
    }
    bound = sorted({name.id for name in names if isinstance(name.ctx, ast.Store)} - parameters - in_texts)
    used = {name.id for name in names}
    for old in bound:
        new = f"{old}_value"
        if new not in used | parameters:
            places = [source.range_of(name) for name in names if name.id == old]
            yield source.edit("local name", *((start, end, new.encode()) for start, end in places))


def _add_parentheses(source: Source, function: Function) -> Iterator[SourceEdit]:
    for node in find_code(function):
        if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Tuple):
            start, end = source.range_of(node.value)
            yield source.edit("parentheses", (start, end, b"(" + source.data[start:end] + b")"))


def _add_lines(source: Source, function: Function) -> Iterator[SourceEdit]:
    for first, second in pairwise(function.body):
        place = source.line_start(second)
        indent = source.data[place : source.range_of(second)[0]]
        if first.end_lineno == second.lineno or indent.strip():
            continue
        yield source.edit("comment", (place, place, indent + b"# The next step.\n"))
        yield source.edit("blank line", (place, place, b"\n"))


def draw_edits(
    root: Path, files: Sequence[Path], find: Callable[[Source], Iterator[SourceEdit]], seed: str
) -> Iterator[SourceEdit]:
    """Yield edits of a project in a random order, of all kinds in turn.

    Args:
        root: The project.
        files: The files that are edited.
        find: Yields the edits of a file.
        seed: The same seed gives the same edits.
    """
    chance = random.Random(seed)
    by_kind: dict[str, list[SourceEdit]] = {}
    for file in sorted(files):
        try:
            source = Source(file.relative_to(root).as_posix(), file.read_bytes())
        except (SyntaxError, UnicodeDecodeError):
            continue
        for edit in find(source):
            by_kind.setdefault(edit.kind, []).append(edit)
    for edits in by_kind.values():
        chance.shuffle(edits)
    kinds = sorted(by_kind)
    while any(by_kind.values()):
        for kind in kinds:
            if by_kind[kind]:
                yield by_kind[kind].pop()
