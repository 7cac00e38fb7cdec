"""One problem of several tools, and problems that only look like one."""

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.same_problem import find_rule_group, join_problems

TEXT = "import os, sys\nimport re\n\n\ndef f(a=[]):\n    except_ = widht\n    return a == None\n"


def make_finding(marked: str, message: str, source: str, code: str, nth: int = 0) -> Finding:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(marked, start + 1)
    return Finding(start, start + len(marked), message, source, code)


SAME = {
    "unused import": [
        make_finding("re", "`re` imported but unused", "Ruff", "F401"),
        make_finding("import re", "'re' imported but unused", "flake8", "F401"),
        make_finding("re", 'Import "re" is not accessed', "Pylance", "reportUnusedImport"),
        make_finding("import re", "Unused import re", "pylint", "W0611:unused-import"),
        make_finding("re", "Unused import: `re`", "lsp-harness", "F401"),
    ],
    "unknown name": [
        make_finding("widht", "Undefined name `widht`", "Ruff", "F821"),
        make_finding("widht", '"widht" is not defined', "Pyright", "reportUndefinedVariable"),
        make_finding("except_ = widht", 'Name "widht" is not defined', "mypy", "name-defined"),
        make_finding("widht", "Name `widht` used when not defined", "ty", "unresolved-reference"),
    ],
    "unused variable": [
        make_finding("except_", "'except_' is declared but its value is never read.", "ts", "6133"),
        make_finding(
            "except_", "'except_' is assigned a value but never used.", "eslint", "@typescript-eslint/no-unused-vars"
        ),
        make_finding("except_", "This variable except_ is unused.", "biome", "lint/correctness/noUnusedVariables"),
    ],
    "default argument": [
        make_finding("[]", "Do not use mutable data structures for argument defaults", "Ruff", "B006"),
        make_finding("def f(a=[])", "Dangerous default value [] as argument", "Pylint", "dangerous-default-value"),
        make_finding("a=[]", "Dangerous default value [] as argument", "pylint", "W0102"),
    ],
    "syntax": [
        make_finding("a=[]", "Expected an expression", "Ruff", "invalid-syntax"),
        make_finding("(a", "'(' was never closed", "Pylance", ""),
        make_finding("def", "E999 SyntaxError", "flake8", "E999"),
    ],
    "comparison": [
        make_finding("None", "Comparison to `None` should be `cond is None`", "Ruff", "E711"),
        make_finding("a == None", "Comparison to None", "pylint", "C0121:singleton-comparison"),
    ],
}


@pytest.mark.parametrize("findings", SAME.values(), ids=SAME.keys())
def test_findings_about_one_problem_are_joined(findings: list[Finding]) -> None:
    document = Document.from_text("file:///a.py", TEXT, language="python")
    for order in (findings, findings[::-1]):
        [problem] = join_problems(order, document)
        assert problem.findings == order
    # a tool that has fixes stands for it
    [problem] = join_problems(findings[::-1], document)
    assert problem.main == (findings[0] if findings[0].source == "Ruff" else findings[-1])


OTHERS = {
    "two imports on one line": [
        make_finding("os", "`os` imported but unused", "Ruff", "F401"),
        make_finding("import os, sys", "'sys' imported but unused", "flake8", "F401"),
    ],
    "two rules at one place": [
        make_finding("widht", "Undefined name `widht`", "Ruff", "F821"),
        make_finding("widht", "Local variable `widht` is unused", "Ruff", "F841"),
    ],
    "one rule twice": [
        make_finding("r", "too short", "speller", "short", 1),
        make_finding("r", "too short", "speller", "short", 2),
    ],
    "rules of two tools that mean something else": [
        make_finding("a == None", "Comparison to `None`", "Ruff", "E711"),
        make_finding("a == None", "Compare with a constant", "pylint", "R0133"),
    ],
    "messages without a rule": [
        make_finding("a=[]", "this is bad", "one", ""),
        make_finding("a=[]", "this is bad style", "two", ""),
    ],
}


@pytest.mark.parametrize("findings", OTHERS.values(), ids=OTHERS.keys())
def test_two_problems_stay_two(findings: list[Finding]) -> None:
    document = Document.from_text("file:///a.py", TEXT, language="python")
    assert len(join_problems(findings, document)) == 2


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("PLR0913", "R0913"),
        ("PLW0602", "W0602:global-variable-not-assigned"),
        ("TS2304", "2304"),
        ("F401", "unused-import"),
    ],
)
def test_names_of_one_rule(one: str, two: str) -> None:
    assert find_rule_group(one) == find_rule_group(two)
