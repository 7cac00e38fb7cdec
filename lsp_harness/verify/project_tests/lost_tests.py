"""Tests that count for nothing after a proposal: they are skipped or gone, or they pass because they check nothing."""

import ast
import doctest
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from lsp_harness.syntax import test_checks
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import ToolProblem

REMOVAL = re.compile(
    r"\b(?:remov|delet|drop|renam|skip|disabl|deselect|xfail|replac|merg|split|empty|mov|rewrit|parametri[sz])\w*\b",
    re.IGNORECASE,
)
"""Words by which an instruction asks that a test is gone afterwards."""
TEST_NAME = re.compile(r"\b(?:test_\w+|Test[A-Z]\w*|\w+_test)\b")
TEST_WORD = re.compile(r"\btests?\b", re.IGNORECASE)


def find_lost_tests(before: Digest, after: Digest, must_pass: frozenset[str], task: str = "") -> list[ToolProblem]:
    """Return a problem for each test that had to pass and neither passes nor fails.

    These tests have to pass: those that a proposal has to repair, and those that passed before, unless the instruction
    was to remove them. Parameters in the names of tests may differ from run to run, so their number counts. A test with
    the same name in another place is the same test. A file that could not be imported passes if one of its tests does.

    Args:
        before: The result of the tests before the proposal.
        after: The result after it.
        must_pass: The ids of the tests that the proposal has to repair, and the paths of files that it has to make
            importable.
        task: The instruction that led to the proposal, in words.
    """
    if after.passed_tests is None or before.passed_tests is None:
        return _count_lost(before, after, must_pass, task)
    passed_before = before.passed_tests
    broken = {p.path: p for p in after.problems if not p.test and p.path and p not in before.problems}
    unread = {test: broken[path] for test in passed_before | must_pass if (path := test.partition("::")[0]) in broken}
    passed = after.passed_tests | {test.partition("::")[0] for test in after.passed_tests}
    gone = passed_before - passed - after.skipped_tests - unread.keys()
    gone -= _still_counted(gone, before.passed_tests, after.passed_tests)
    lost = ((must_pass | (passed_before & after.skipped_tests) | gone | unread.keys()) - passed) - (
        {test for test in gone | after.skipped_tests if may_remove(task, test)} - must_pass
    )
    return [_describe(test, unread.get(test), is_skipped=test in after.skipped_tests) for test in sorted(lost)]


def _count_lost(before: Digest, after: Digest, must_pass: frozenset[str], task: str) -> list[ToolProblem]:
    """Return what is lost if a program only counts its tests."""
    if must_pass and after.passed < before.passed + len(must_pass):
        return [ToolProblem("it does not pass", test=test) for test in sorted(must_pass)]
    missing = before.passed - after.passed - max(0, after.failed - before.failed)
    if missing <= 0 or (task and REMOVAL.search(task) and TEST_WORD.search(task)):
        return []
    words = "1 test no longer runs" if missing == 1 else f"{missing} tests no longer run"
    return [ToolProblem(words, test="tests")]


def _still_counted(gone: Collection[str], before: Collection[str], after: Collection[str]) -> set[str]:
    """Return tests that have only other parameters or another place: as many as before pass."""
    new = [test for test in after if test not in before]
    by_parameters, by_name = Counter(map(_without_parameters, new)), Counter(map(_own_name, new))
    kept: set[str] = set()
    for key, counts in ((_without_parameters, by_parameters), (_own_name, by_name)):
        for test in sorted(gone):
            if test not in kept and counts[key(test)] > 0:
                counts[key(test)] -= 1
                kept.add(test)
    return kept


def _without_parameters(test: str) -> str:
    return test.partition("[")[0]


def _own_name(test: str) -> str:
    """Return the name of a test with its parameters, without its file and its class."""
    head, bracket, parameters = test.partition("[")
    return head.rpartition("::")[2] + bracket + parameters


def may_remove(task: str, test: str) -> bool:
    """Return whether an instruction asks that a test is gone afterwards.

    Args:
        task: The instruction in words.
        test: The id of the test.
    """
    if not (REMOVAL.search(task) and (TEST_WORD.search(task) or TEST_NAME.search(task))):
        return False
    named = set(TEST_NAME.findall(task))
    return not named or not named.isdisjoint(re.split(r"::|\[|/|\.", test))


def _describe(test: str, unread: ToolProblem | None, *, is_skipped: bool) -> ToolProblem:
    path = test.partition("::")[0]
    if unread:
        return ToolProblem(f"its file cannot be imported: {unread.message}", unread.path, unread.line, test=test)
    return ToolProblem(
        "it is skipped" if is_skipped else "it no longer runs", path if "/" in path or "." in path else "", test=test
    )


ASSERTING = re.compile(r"assert|raises|warns|check|expect|verify|fail|approx", re.IGNORECASE)
"""Names of functions of Python that check something."""


def find_emptied_tests(change: Change, task: str = "") -> list[ToolProblem]:
    """Return a problem for each test of a changed file that checked something and does not any more.

    Args:
        change: The change of a file. Examples in docstrings of Python count as tests.
        task: The instruction in words.
    """
    before, after = count_checks(change.before), count_checks(change.after)
    path = change.file.relative_to(change.root).as_posix() if change.root else change.file.name
    emptied = sorted(test for test, count in before.items() if count and after.get(test) == 0)
    problems = [ToolProblem("it checks nothing any more", path, test=f"{path}::{test}") for test in emptied]
    old, new = _list_examples(change.before), _list_examples(change.after)
    for name, count in sorted((old - new).items()):
        # one that is gone with its function is found by its name
        if name in new:
            words = "1 example checks" if count == 1 else f"{count} examples check"
            problems.append(ToolProblem(f"{words} nothing any more", path, test=f"{path}::{name or 'examples'}"))
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
