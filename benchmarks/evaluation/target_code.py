"""Finds the code of a target that a request is about."""

import ast

from benchmarks.evaluation.suites.eval_task import EvalTask
from lsp_harness.syntax.scope import function_text_span
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def find_code_span(task: EvalTask, document: Document) -> Span:
    """Return the bytes of the code that is rewritten: for a fix the function or all definitions, else the whole text.

    Args:
        task: The task.
        document: The target.
    """
    whole = Span(0, len(document.data))
    line = task.line or (task.finding.start[0] + 1 if task.finding else 0)
    if line:
        tree = parse(document)
        start = document.line_starts[min(line, len(document.line_starts)) - 1]
        return (function_text_span(tree, start) if tree else None) or whole
    definitions = _find_definitions(task.source) if task.kind == "fix" else []
    if not definitions:
        return whole
    first = min(min([node.lineno, *(mark.lineno for mark in node.decorator_list)]) for node in definitions)
    last = max(node.end_lineno or node.lineno for node in definitions)
    return Span(document.line_starts[first - 1], document.line_span(last - 1)[1])


def _find_definitions(source: str) -> list[Definition]:
    try:
        return [node for node in ast.parse(source).body if isinstance(node, Definition)]
    except (SyntaxError, ValueError):
        return []
