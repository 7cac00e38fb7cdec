"""Tests that pass after a proposal only because they check nothing any more."""

import ast
import doctest
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from lsp_harness.syntax import test_checks
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.digest.problem import Problem
from lsp_harness.verify.project_tests.lost_tests import may_remove

ASSERTING = re.compile(r"assert|raises|warns|check|expect|verify|fail|approx", re.IGNORECASE)
"""Names of functions of Python that check something."""


def find_emptied_tests(change: Change, task: str = "") -> list[Problem]:
    """Return a problem for each test of a changed file that checked something and does not any more.

    Args:
        change: The change of a file. Examples in docstrings of Python count as tests.
        task: The instruction in words.
    """
    before, after = count_checks(change.before), count_checks(change.after)
    path = change.file.relative_to(change.root).as_posix() if change.root else change.file.name
    emptied = sorted(test for test, count in before.items() if count and after.get(test) == 0)
    problems = [Problem("it checks nothing any more", path, test=f"{path}::{test}") for test in emptied]
    old, new = _list_examples(change.before), _list_examples(change.after)
    for name, count in sorted((old - new).items()):
        # one that is gone with its function is found by its name
        if name in new:
            words = "1 example checks" if count == 1 else f"{count} examples check"
            problems.append(Problem(f"{words} nothing any more", path, test=f"{path}::{name or 'examples'}"))
    return [problem for problem in problems if not may_remove(task, problem.test)]


def count_checks(document: Document) -> Mapping[str, int]:
    """Return for each test of a file, with its class or group, how many statements of it check something.

    Args:
        document: The text. One that cannot be parsed, or in a language whose tests are not known, has no tests here.
    """
    if _is_python(document):
        return _count_assertions(document.data)
    tree = parse(document)
    return test_checks.count_checks(tree) if tree else {}


def _is_python(document: Document) -> bool:
    language = language_for(document.language, document.uri)
    return language is not None and language.compiles_in_process


def _count_assertions(source: bytes) -> dict[str, int]:
    found: dict[str, int] = {}

    def visit(body: Iterable[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}::")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                found[prefix + node.name] = sum(map(_is_assertion, ast.walk(node)))

    try:
        visit(ast.parse(source).body, "")
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return found


def _list_examples(document: Document) -> Counter[str]:
    """Return for each docstring the number of its examples that say what has to come out, by the name of its owner."""
    found: Counter[str] = Counter()
    try:
        tree = ast.parse(document.data) if _is_python(document) else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            try:
                examples = doctest.DocTestParser().get_examples(text) if ">>>" in text else []
            except ValueError:
                continue
            checking = [example for example in examples if example.want and not example.options.get(doctest.SKIP)]
            found[getattr(node, "name", "")] += len(checking)
    return found


def _is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
    return bool(ASSERTING.search(name))
