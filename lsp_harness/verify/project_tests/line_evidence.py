"""Records which lines of some Python files run, in every process of a run of tests.

It is copied beside a `sitecustomize.py` into a folder on PYTHONPATH, so that each Python process of the run imports it,
those that tests start, too. It imports few modules, nothing of this package, and runs in Python 3.8 and later.

The variable `LSP_HARNESS_LINES` names a JSON file with two fields: `files`, the real path of a file → the lines to
record, and `out`, a file to which each process adds a line `NUMBER OF FILE:LINE` when it runs such a line for the first
time.

The statements in these lines get a call before them when their file is compiled. Nothing else of the program is slower,
and tools that measure coverage or debug are not disturbed. pytest compiles test files itself, and files with doctests,
so it loads this module as a plug-in, too, and leaves its assertions alone (PYTEST_DONT_REWRITE).
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import importlib.machinery
import json
import os
import sys

TYPE_CHECKING = False
"""As `typing.TYPE_CHECKING`, whose module takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

VARIABLE = "LSP_HARNESS_LINES"
MARK = "__lsp_harness_line__"
OPEN = "__lsp_harness_open_{}__"
"""The names of the function that records lines, and of the bytes that say which calls of a file are still open."""
COMPILED_ELSEWHERE = ("jit", "vectorize", "kernel", "script", "triton", "numba")
"""Parts of the names of decorators that compile a function themselves, and do not know the call."""


def install() -> None:
    """Record the lines that the variable of the environment names, if it is set."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    try:
        with open(path, encoding="utf-8") as file:
            request = json.load(file)
        out = os.open(request["out"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except (OSError, ValueError, KeyError):
        return
    record(request["files"], out)


def record(files: Mapping[str, Collection[int]], out: int) -> None:
    """Record lines from now on. Modules that are imported already are not recorded.

    Args:
        files: Real path → its lines, counted from 1.
        out: The descriptor of the file to which they are added.
    """
    numbers = {path: number for number, path in enumerate(files)}
    seen: set[tuple[int, tuple[int, ...]]] = set()

    def mark(number: int, lines: tuple[int, ...]) -> None:
        if (number, lines) not in seen:
            seen.add((number, lines))
            with contextlib.suppress(OSError):
                os.write(out, "".join(f"{number}:{line}\n" for line in lines).encode())

    setattr(builtins, MARK, mark)
    loader = importlib.machinery.SourceFileLoader
    compile_source: Any = loader.source_to_code

    def compile_marked(
        self: importlib.machinery.SourceFileLoader, data: Any, path: Any, *arguments: Any, **options: Any
    ) -> Any:
        real = os.path.realpath(path) if isinstance(path, str) else ""
        if real in numbers:
            # the loader says what is wrong with the text
            with contextlib.suppress(SyntaxError, ValueError, RecursionError):
                data = add_marks(data, numbers[real], frozenset(files[real]))
        return compile_source(self, data, path, *arguments, **options)

    loader.source_to_code = compile_marked

    def mark_tree(tree: ast.AST, path: str) -> None:
        real = os.path.realpath(path)
        if real in numbers:
            add_marks(tree, numbers[real], frozenset(files[real]))

    global _mark_tree
    _mark_tree = mark_tree


_mark_tree: Any = None
"""The function that adds the calls to a syntax tree of a file, or None if nothing is recorded."""


def pytest_addoption(parser: Any) -> None:
    """Let pytest add the calls to files that it compiles itself. It calls this function before it reads any file."""
    rewrite: Any = importlib.import_module("_pytest.assertion.rewrite")
    rewrite_asserts = rewrite.rewrite_asserts
    if _mark_tree is None or getattr(rewrite_asserts, "marks_lines", False):
        return

    def rewrite_marked(tree: ast.Module, source: bytes, module_path: str | None = None, *more: Any) -> None:
        if module_path:
            _mark_tree(tree, module_path)
        rewrite_asserts(tree, source, module_path, *more)

    rewrite_marked.marks_lines = True  # type: ignore[attr-defined]
    rewrite.rewrite_asserts = rewrite_marked


def add_marks(source: str | bytes | ast.AST, number: int, lines: Iterable[int]) -> ast.AST:
    """Return the syntax tree of a text in which the statements in some lines call `MARK` first.

    Args:
        source: The text.
        number: The number of the file.
        lines: The lines.
    """
    tree = source if isinstance(source, ast.AST) else ast.parse(source)
    marker = Marker(number, frozenset(lines))
    marker.visit(tree)
    setattr(builtins, OPEN.format(number), bytearray(b"\1") * marker.count)
    return ast.fix_missing_locations(tree)


def list_lines(source: str | bytes, lines: Iterable[int]) -> set[int]:
    """Return those of some lines that a run can record: lines of statements, without comments and docstrings.

    Args:
        source: The text.
        lines: The lines.
    """
    marker = Marker(0, frozenset(lines))
    marker.visit(ast.parse(source))
    return marker.found


class Marker(ast.NodeTransformer):
    """A transformer of syntax trees that adds a call before each statement, to record that the line runs.

    Attributes:
        found: The lines that are recorded.
        count: The number of calls.
    """

    def __init__(self, number: int, lines: frozenset[int]) -> None:
        self.number, self.lines = number, lines
        self.found: set[int] = set()
        self.count = 0

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """Mark the statements of a module."""
        self.mark_blocks(node, ())
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """Mark a function. Its first line counts as run when the function is called."""
        if any(_is_compiled_elsewhere(decorator) for decorator in node.decorator_list):
            return node
        first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
        self.mark_blocks(node, range(first, _first_line(node.body[0])))
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def mark_blocks(self, node: ast.AST, head: Iterable[int]) -> None:
        """Mark each block of statements of a node. The lines of a head run when its body begins."""
        lists: dict[str, list[Any]] = {name: value for name, value in ast.iter_fields(node) if isinstance(value, list)}
        for field, items in lists.items():
            if items and isinstance(items[0], ast.stmt):
                setattr(node, field, self.mark_block(items, head if field == "body" else ()))
                continue
            for item in items:
                if isinstance(item, ast.ExceptHandler):
                    self.mark_blocks(item, range(item.lineno, _first_line(item.body[0])))
                elif type(item).__name__ == "match_case":
                    self.mark_blocks(item, range(item.pattern.lineno, _first_line(item.body[0])))

    def mark_block(self, block: Sequence[ast.stmt], head: Iterable[int]) -> list[ast.stmt]:
        """Return the statements of a block with calls before them."""
        marked: list[ast.stmt] = []
        rest = list(block)
        while rest and _must_be_first(rest[0], not marked):
            marked.append(rest.pop(0))
        self.add_mark(marked, head, rest[0] if rest else block[0])
        for statement in rest:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.visit(statement)
            else:
                self.add_mark(marked, _own_lines(statement), statement)
                if hasattr(statement, "body") or hasattr(statement, "cases"):
                    self.mark_blocks(statement, ())
            marked.append(statement)
        return marked

    def add_mark(self, block: list[ast.stmt], lines: Iterable[int], place: ast.stmt) -> None:
        """Add a call for some lines to a block, if one of them is to be recorded.

        The call is made once. After that, only a byte is read, because the statement may be in a loop.
        """
        wanted = tuple(sorted(self.lines.intersection(lines)))
        if not wanted:
            return
        self.found.update(wanted)
        is_open = f"{OPEN.format(self.number)}[{self.count}]"
        call = f"if {is_open}:\n    {is_open} = 0\n    {MARK}({self.number}, {wanted!r})"
        [statement] = ast.parse(call).body
        for node in ast.walk(statement):
            ast.copy_location(node, place)
        block.append(statement)
        self.count += 1


def _own_lines(statement: Any) -> range:
    """Return the lines of a statement without those of the blocks in it."""
    first = _first_line(statement)
    if isinstance(
        statement, (ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
    ):
        return range(first, max(first + 1, _first_line(statement.body[0])))
    if hasattr(statement, "cases"):
        return range(first, max(first + 1, statement.cases[0].pattern.lineno))
    if hasattr(statement, "body"):
        return range(first, first + 1)
    return range(first, (statement.end_lineno or first) + 1)


def _first_line(statement: ast.stmt) -> int:
    """Return the line in which a statement begins, with its decorators."""
    return min([statement.lineno] + [item.lineno for item in getattr(statement, "decorator_list", [])])


def _must_be_first(statement: ast.stmt, is_first: bool) -> bool:
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return True
    value = getattr(statement, "value", None)
    return is_first and isinstance(statement, ast.Expr) and isinstance(getattr(value, "value", None), str)


def _is_compiled_elsewhere(decorator: ast.expr) -> bool:
    names: list[str] = [
        part for node in ast.walk(decorator) for part in (getattr(node, "id", ""), getattr(node, "attr", ""))
    ]
    return any(part in name.lower() for name in names for part in COMPILED_ELSEWHERE)


def import_next_customization() -> None:
    """Import the `sitecustomize` that this one hides, as if the folder of this module were not in `sys.path`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != folder]
    own = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        if own is not None:
            # the import of the module that calls this function is not at its end
            sys.modules["sitecustomize"] = own
