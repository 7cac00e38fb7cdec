"""Tests that pass after a proposal only because they check nothing any more."""

import ast
import doctest
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.digest.problem import Problem
from lsp_harness.verify.project_tests.lost_tests import may_remove

ASSERTING = re.compile(r"assert|raises|warns|check|expect|verify|fail|approx", re.IGNORECASE)
"""Names of functions of Python that check something."""
MAX_CALL_BYTES = 2_000
"""Most bytes of the text of a called function that are read."""
MODIFIERS = r"(?:\.(?:only|concurrent|sequential|each|serial|failing|fails)\b.*)?"
JAVASCRIPT_TEST = re.compile(rf"(?:test|it|specify){MODIFIERS}", re.DOTALL)
JAVASCRIPT_GROUP = re.compile(rf"(?:describe|context|suite){MODIFIERS}", re.DOTALL)
STRINGS = ("string", "template_string")


@dataclass(frozen=True, slots=True)
class TestForm:
    """The tests of one language, as its syntax tree shows them.

    Attributes:
        name_test: Returns the name of the test that a node is, or None.
        name_group: Returns the name of the group of tests that a node is, or None.
        calls: Type of a node that calls something → the field that names it.
        checks: What is called to check something.
    """

    name_test: Callable[[Node], str | None]
    name_group: Callable[[Node], str | None]
    calls: Mapping[str, str]
    checks: re.Pattern[str]


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
        document: The text. One that cannot be parsed, or in a language without a row in `FORMS`, has no tests here.
    """
    if _is_python(document):
        return _count_assertions(document.data)
    syntax = parse(document)
    form = FORMS.get(syntax.language.id) if syntax else None
    return _count_calls(syntax.root, form) if syntax and form else {}


def _is_python(document: Document) -> bool:
    return document.uri.endswith(".py") or document.language == "python"


def _count_calls(root: Node, form: TestForm) -> dict[str, int]:
    found: dict[str, int] = {}
    open_nodes: list[tuple[Node, str, str | None]] = [(root, "", None)]
    while open_nodes:
        node, group, test = open_nodes.pop()
        if (name := form.name_group(node)) is not None:
            group += f"{name} > "
        elif test is None and (name := form.name_test(node)) is not None:
            test = group + name
            found.setdefault(test, 0)
        if test is not None and (field := form.calls.get(node.type)):
            found[test] += bool(form.checks.search(_read_field(node, field)))
        open_nodes += [(child, group, test) for child in node.named_children]
    return found


def _read_field(node: Node, field: str) -> str:
    child = node.child_by_field_name(field)
    return child.text[-MAX_CALL_BYTES:].decode("utf-8", "replace") if child and child.text else ""


def _name_javascript(node: Node, pattern: re.Pattern[str]) -> str | None:
    if node.type != "call_expression" or not pattern.fullmatch(_read_field(node, "function")):
        return None
    arguments = node.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    return first.text.decode("utf-8", "replace") if first and first.text and first.type in STRINGS else None


def _name_rust(node: Node) -> str | None:
    if node.type != "function_item":
        return None
    attributes: list[str] = []
    above = node.prev_named_sibling
    while above and above.type in ("attribute_item", "line_comment"):
        attributes.append((above.text or b"").decode("utf-8", "replace"))
        above = above.prev_named_sibling
    text = " ".join(attributes)
    return _read_field(node, "name") if re.search(r"\btest\b", text) and "should_panic" not in text else None


def _name_go(node: Node) -> str | None:
    name = _read_field(node, "name") if node.type == "function_declaration" else ""
    return name if name.startswith("Test") else None


def _no_group(node: Node) -> None:
    return None


JAVASCRIPT = TestForm(
    lambda node: _name_javascript(node, JAVASCRIPT_TEST),
    lambda node: _name_javascript(node, JAVASCRIPT_GROUP),
    {"call_expression": "function", "member_expression": "property"},
    re.compile(r"assert|expect|should|check|verify|throws|fail|reject|^t\.\w+$", re.IGNORECASE),
)
FORMS: Mapping[str, TestForm] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), JAVASCRIPT),
    "rust": TestForm(
        _name_rust,
        _no_group,
        {"macro_invocation": "macro", "call_expression": "function"},
        re.compile(r"assert|panic|unreachable|ensure|check|verify|\.(?:unwrap|expect)(?:_err)?$"),
    ),
    "go": TestForm(
        _name_go,
        _no_group,
        {"call_expression": "function"},
        re.compile(r"\.(?:Error|Fatal|Fail)\w*$|assert|require|check|expect|verify", re.IGNORECASE),
    ),
}
"""Language → how its tests look. Tests of Python are read by its own parser."""


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
