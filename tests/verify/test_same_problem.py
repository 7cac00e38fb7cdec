"""One problem of several tools, and problems that only look like one."""

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.same_problem import find_rule_group, join_problems

TEXT = "import os, sys\nimport re\n\n\ndef f(a=[]):\n    except_ = widht\n    return a == None\n"


def finding(marked: str, message: str, source: str, code: str, nth: int = 0) -> Finding:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(marked, start + 1)
    return Finding(start, start + len(marked), message, source, code)


SAME = {
    "unused import": [
        finding("re", "`re` imported but unused", "Ruff", "F401"),
        finding("import re", "'re' imported but unused", "flake8", "F401"),
        finding("re", 'Import "re" is not accessed', "Pylance", "reportUnusedImport"),
        finding("import re", "Unused import re", "pylint", "W0611:unused-import"),
        finding("re", "Unused import: `re`", "lsp-harness", "F401"),
    ],
    "unknown name": [
        finding("widht", "Undefined name `widht`", "Ruff", "F821"),
        finding("widht", '"widht" is not defined', "Pyright", "reportUndefinedVariable"),
        finding("except_ = widht", 'Name "widht" is not defined', "mypy", "name-defined"),
        finding("widht", "Name `widht` used when not defined", "ty", "unresolved-reference"),
    ],
    "unused variable": [
        finding("except_", "'except_' is declared but its value is never read.", "ts", "6133"),
        finding(
            "except_", "'except_' is assigned a value but never used.", "eslint", "@typescript-eslint/no-unused-vars"
        ),
        finding("except_", "This variable except_ is unused.", "biome", "lint/correctness/noUnusedVariables"),
    ],
    "default argument": [
        finding("[]", "Do not use mutable data structures for argument defaults", "Ruff", "B006"),
        finding("def f(a=[])", "Dangerous default value [] as argument", "Pylint", "dangerous-default-value"),
        finding("a=[]", "Dangerous default value [] as argument", "pylint", "W0102"),
    ],
    "syntax": [
        finding("a=[]", "Expected an expression", "Ruff", "invalid-syntax"),
        finding("(a", "'(' was never closed", "Pylance", ""),
        finding("def", "E999 SyntaxError", "flake8", "E999"),
    ],
    "comparison": [
        finding("None", "Comparison to `None` should be `cond is None`", "Ruff", "E711"),
        finding("a == None", "Comparison to None", "pylint", "C0121:singleton-comparison"),
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
        finding("os", "`os` imported but unused", "Ruff", "F401"),
        finding("import os, sys", "'sys' imported but unused", "flake8", "F401"),
    ],
    "two rules at one place": [
        finding("widht", "Undefined name `widht`", "Ruff", "F821"),
        finding("widht", "Local variable `widht` is unused", "Ruff", "F841"),
    ],
    "one rule twice": [
        finding("r", "too short", "speller", "short", 1),
        finding("r", "too short", "speller", "short", 2),
    ],
    "rules of two tools that mean something else": [
        finding("a == None", "Comparison to `None`", "Ruff", "E711"),
        finding("a == None", "Compare with a constant", "pylint", "R0133"),
    ],
    "messages without a rule": [
        finding("a=[]", "this is bad", "one", ""),
        finding("a=[]", "this is bad style", "two", ""),
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
