"""One-slip bugs of Python sources, as people write them. They are chosen without a look at the repairs of the harness.

Whole statements are among them, which no change of a token can bring back.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.source_edits import Function, Source, SourceEdit, find_code, find_mutations

WORDS_OF_CALLS = ("strip", "lower", "upper", "copy", "len", "str", "int", "list", "tuple", "set", "sorted")
"""Functions whose call is easily forgotten."""


def find_slips(source: Source) -> Iterator[SourceEdit]:
    """Yield all one-slip bugs of the functions of a file."""
    yield from find_mutations(source)
    for function in source.functions:
        names = sorted(_list_locals(function))
        for node in find_code(function):
            for kind, start, end, new in _slip(source, node, names):
                yield source.edit(kind, (start, end, new))
            if isinstance(node, ast.Call):
                yield from _swap_arguments(source, node)
        for body in _list_blocks(function):
            yield from _slip_in_block(source, body)


def _list_locals(function: Function) -> set[str]:
    nodes = list(ast.walk(function))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound | {node.arg for node in nodes if isinstance(node, ast.arg)} - {"self", "cls"}


def _slip(source: Source, node: ast.AST, names: list[str]) -> Iterator[tuple[str, int, int, bytes]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        others = [name for name in names if name != node.id]
        # one of them, and for each place another one
        if others:
            yield "wrong name", *source.range_of(node), others[(node.lineno + node.col_offset) % len(others)].encode()
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        between = source.range_of(node.left)[1], source.range_of(node.comparators[0])[0]
        text = source.data[slice(*between)]
        for old, new in ((b"<=", b"<"), (b">=", b">"), (b"<", b"<="), (b">", b">=")):
            if text.strip() == old:
                yield "boundary", *between, text.replace(old, new)
                break
    if isinstance(node, ast.UnaryOp):
        yield "sign or not", *source.range_of(node), source.text_of(node.operand)
    if isinstance(node, ast.BoolOp):
        yield "lost condition", *source.range_of(node), source.text_of(node.values[0])
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
        yield "lost one", *source.range_of(node), source.text_of(node.left)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        lower, upper = node.slice.lower, node.slice.upper
        if bound := upper or lower:
            yield "slice bound", *source.range_of(bound), source.text_of(bound) + b" + 1"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 12:
        text = source.text_of(node)
        if text[:1] in b"\"'" and text[:3] != text[:1] * 3:
            yield "text", *source.range_of(node), text[:1] + text[2:]
    if isinstance(node, ast.Call) and not node.keywords and (rest := _find_value(node)):
        yield "lost call", *source.range_of(node), source.text_of(rest)
    if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
        start, _ = source.range_of(node)
        yield "lost return", start, source.range_of(node.value)[0], b""
    if isinstance(node, ast.IfExp):
        yield "branch", *source.range_of(node), source.text_of(node.body)


def _find_value(node: ast.Call) -> ast.expr | None:
    """Return the value that stays if the call around it is forgotten, or None."""
    function = node.func
    if isinstance(function, ast.Name) and function.id in WORDS_OF_CALLS and len(node.args) == 1:
        return node.args[0]
    if isinstance(function, ast.Attribute) and function.attr in WORDS_OF_CALLS and not node.args:
        return function.value
    return None


def _swap_arguments(source: Source, node: ast.Call) -> Iterator[SourceEdit]:
    for first, second in pairwise(node.args):
        if isinstance(first, ast.Starred) or isinstance(second, ast.Starred):
            continue
        texts = source.text_of(second), source.text_of(first)
        if texts[0] != texts[1]:
            swapped = (*source.range_of(first), texts[0]), (*source.range_of(second), texts[1])
            yield source.edit("argument order", *swapped)


def _list_blocks(function: Function) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block: object = getattr(node, name, None)
            if isinstance(block, list) and block and all(isinstance(one, ast.stmt) for one in block):
                yield block


def _slip_in_block(source: Source, block: list[ast.stmt]) -> Iterator[SourceEdit]:
    for statement in block:
        start, end = source.range_of(statement)
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.Continue) and not is_docstring:
            yield source.edit("lost statement", (start, end, b"pass"))
    for first, second in pairwise(block):
        spans = source.range_of(first), source.range_of(second)
        is_simple = all(isinstance(one, ast.Expr | ast.Assign | ast.AugAssign) for one in (first, second))
        if is_simple and spans[0][1] < spans[1][0]:
            texts = [source.data[slice(*span)] for span in spans]
            yield source.edit("statement order", (*spans[0], texts[1]), (*spans[1], texts[0]))
