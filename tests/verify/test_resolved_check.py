"""Tests of the check whether the diagnostic of a fix is gone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.checks import ResolvedCheck
from lsp_harness.verify.current_findings import find_syntax_errors
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.ruff_linter import Ruff
from tests.support import markup
from tests.verify.single_change import check_change

pytestmark = pytest.mark.process

BEFORE = """
    def area(r):
        return pi * r ** 2
        #      ^^ F821 Undefined name `pi`
    """


async def check(ruff: Ruff, before: str, after: str, project: Path, name: str = "a.py", **finding: Any) -> Outcome:
    source = markup.parse(before, project / name)
    reported = source.finding
    if finding:
        reported = Finding(reported.start, reported.end, **finding)
    change = Change.from_documents(
        source.document, Document.from_text(source.document.uri, after), project / name, project
    )
    outcome = await check_change(ResolvedCheck(ruff, reported), change)
    return replace(outcome, ms=0.0)


@pytest.mark.process
async def test_a_rule_without_a_finding_passes(ruff: Ruff, project: Path) -> None:
    after = "from math import pi\n\n\ndef area(r):\n    return pi * r ** 2\n"
    assert await check(ruff, BEFORE, after, project) == Outcome("gone", "passed")


async def test_a_finding_of_the_same_rule_that_only_moved_fails(ruff: Ruff, project: Path) -> None:
    after = "# new\ndef area(r):\n    return r ** 2 * pi\n"
    outcome = await check(ruff, BEFORE, after, project)
    assert outcome.status == "failed"
    [finding] = outcome.findings
    assert after[finding.start : finding.end] == "pi"
    assert list(outcome.lines) == ["STILL THERE: F821 Undefined name `pi`"]


async def test_the_same_finding_elsewhere_does_not_count(ruff: Ruff, project: Path) -> None:
    other = "\n\ndef f():\n    return pi\n"
    before = "def area(r):\n    return pi\n    #      ^^ F821 Undefined name `pi`\n" + other
    assert (await check(ruff, before, "def area(r):\n    return 3\n" + other, project)).status == "passed"
    assert (await check(ruff, before, "def area(r):\n    return pi + 0\n" + other, project)).status == "failed"


async def test_a_rule_is_checked_even_if_the_project_does_not_select_it(ruff: Ruff, project: Path) -> None:
    (project / "ruff.toml").write_text('[lint]\nselect = ["E9"]\n')
    assert (await check(ruff, BEFORE, "def area(r):\n    return pi\n", project)).status == "failed"


async def test_a_diagnostic_of_another_server_is_gone_if_our_finding_there_is_gone(ruff: Ruff, project: Path) -> None:
    told = {"message": '"pi" is not defined', "source": "Pyright", "code": "reportUndefinedVariable"}
    assert (await check(ruff, BEFORE, "def area(r):\n    return 3\n", project, **told)).status == "passed"
    assert (await check(ruff, BEFORE, "def area(r):\n    return 1 + pi\n", project, **told)).status == "failed"


async def test_a_finding_that_only_its_own_tool_can_check_is_skipped(ruff: Ruff, project: Path) -> None:
    before = "x: int = ''\n#        ^^ type\n"
    told = {"message": "wrong type", "source": "Pyright", "code": "reportAssignmentType"}
    reason = "only Pyright can say whether it is gone"
    assert await check(ruff, before, "x: int = 1\n", project, **told) == Outcome("gone", "skipped", reason=reason)
    reason = "only the tool that reported it can say whether it is gone"
    assert await check(ruff, before, "x: int = 1\n", project) == Outcome("gone", "skipped", reason=reason)


async def test_without_ruff_the_check_is_skipped(no_ruff: Ruff, project: Path) -> None:
    outcome = await check(no_ruff, BEFORE, "def area(r):\n    return 3\n", project)
    assert outcome == Outcome("gone", "skipped", reason="only ruff can say whether it is gone")


@pytest.mark.parametrize("carets", ["//   ^", "// ^^", "//^^^"])
@pytest.mark.parametrize(("after", "status"), [("foo(1);\n", "passed"), ("foo(2;\n", "failed")])
async def test_a_syntax_error_of_another_language_is_checked_by_the_parser(
    ruff: Ruff, project: Path, after: str, status: str, carets: str
) -> None:
    outcome = await check(ruff, f"foo(1;\n{carets} ')' expected\n", after, project, "a.js")
    assert outcome.status == status


MOVED = [
    # name, before with the error, after, whether it is gone
    ("a.py", "x = (1\ny = 2\n", "x = (1)\ny = 2\n", "passed"),
    ("a.py", "x = (1\ny = 2\n", "x = (1\ny = 2)\n", "failed"),
    ("a.py", "x = (1\ny = 2\n", "x = [1\ny = 2\n", "failed"),
    ("a.py", "x = (1\ny = 2\n", "\n\nx = (1\ny = 2\n", "failed"),
    ("a.py", "if x\n    y()\n", "if x:\n    y()\n", "passed"),
    ("a.py", "if x\n    y()\n", "if x =\n    y()\n", "failed"),
    ("a.py", "x = 1\n  y = 2\n", "x = 1\ny = 2\n", "passed"),
    ("a.py", "def f():\nreturn 1\n", "def f():\n    return 1\n", "passed"),
    ("a.py", "def f():\nreturn 1\n", "def f(x):\nreturn 1\n", "failed"),
    ("a.js", "foo(1;\nbar();\n", "foo(1);\nbar();\n", "passed"),
    ("a.js", "foo(1;\nbar();\n", "foo(1;\nbar());\n", "failed"),
    ("a.js", "foo(1;\nbar();\n", "foo[1;\nbar();\n", "failed"),
    ("a.js", "foo(1;\nbar();\n", "foo(1;\nbar(;\n", "failed"),
    ("a.js", "function f() {\n  g();\n", "function f() {\n  g();\n}\n", "passed"),
    ("a.js", "function f() {\n  g();\n", "function f() {\n  g()\n", "failed"),
    ("a.go", "package m\n\nfunc f() { g(1 }\n", "package m\n\nfunc f() { g(1) }\n", "passed"),
    ("a.go", "package m\n\nfunc f() { g(1 }\n", "package m\n\nfunc f() { g(1, }\n", "failed"),
    ("a.rs", "fn f() { let x = ; }\n", "fn f() { let x = 1; }\n", "passed"),
    ("a.rs", "fn f() { let x = ; }\n", "fn f() { let y = ; }\n", "failed"),
]


@pytest.mark.parametrize(("name", "before", "after", "status"), MOVED)
async def test_a_syntax_error_that_only_moved_or_changed_its_message_remains(
    ruff: Ruff, project: Path, name: str, before: str, after: str, status: str
) -> None:
    outcome = await check_syntax_repair(ruff, project, name, before, after)
    assert outcome.status == status
    assert (len(outcome.findings) > 0) is (status == "failed")


@pytest.mark.parametrize(
    ("name", "before", "after", "status"),
    [
        ("a.py", "x = = 1\n\n\ndef f(:\n    pass\n", "x = 1\n\n\ndef f(:\n    pass\n", "passed"),
        ("a.js", "foo(1;\n\nfunction f() { return [1; }\n", "foo(1);\n\nfunction f() { return [1; }\n", "passed"),
        ("a.js", "foo(1;\n\nfunction f() { return [1; }\n", "foo(1;\n\nfunction f() { return [1]; }\n", "failed"),
    ],
)
async def test_a_different_syntax_error_elsewhere_does_not_count(
    ruff: Ruff, project: Path, name: str, before: str, after: str, status: str
) -> None:
    assert (await check_syntax_repair(ruff, project, name, before, after)).status == status


async def test_a_syntax_error_of_a_text_that_parses_is_skipped(ruff: Ruff, project: Path) -> None:
    outcome = await check_syntax_repair(ruff, project, "a.py", "x = 1\n", "x = 2\n")
    assert (outcome.status, outcome.reason) == ("skipped", "the text parses without it")


async def check_syntax_repair(ruff: Ruff, project: Path, name: str, before: str, after: str) -> Outcome:
    """Return the outcome for the first syntax error of a text."""
    document = Document.from_text((project / name).as_uri(), before)
    tree = parse(document)
    assert tree is not None
    found = next(((fault.start, fault.end) for fault in find_syntax_errors(tree)), (0, 1))
    finding = Finding(*found, "unexpected", "tool", "syntax")
    change = Change.from_documents(document, Document.from_text(document.uri, after), project / name, project)
    return await check_change(ResolvedCheck(ruff, finding), change)


async def test_a_finding_with_another_number_in_its_message_is_the_same(ruff: Ruff, project: Path) -> None:
    (project / "ruff.toml").write_text('line-length = 20\n[lint]\nselect = ["E501"]\n')
    before = "total = first + second + third\n#                   ^^^^^^^^^^ E501 Line too long (30 > 20)\n"
    assert (await check(ruff, before, "total = first + second + thi\n", project)).status == "failed"
    assert (await check(ruff, before, "total = first + second + third + fourth\n", project)).status == "failed"
    shorter = "total = (\n    first\n    + second\n)\n"
    assert (await check(ruff, before, shorter, project)).status == "passed"


CHAIN = (
    "def f(a, b):\n    if {}:\n        return 1\n    elif {}:\n        return True\n    else:\n        return False\n"
)
NESTED = "def f(a, b, c):\n    if a:\n        if b:\n            if c:\n                g()\n"
STILL_AT_ITS_PLACE = [
    # names in the message that the edit exchanges
    ("F821", 0, "x = pi\n", "x = tau\n", "failed"),
    ("SIM103", 0, CHAIN.format("a", "b"), CHAIN.format("b", "a"), "failed"),
    ("SIM103", 0, CHAIN.format("a", "b"), CHAIN.format("a", "not b"), "failed"),
    (
        "SIM103",
        0,
        CHAIN.format("a", "b"),
        "def f(a, b):\n    if a:\n        return 1\n    return bool(b)\n",
        "passed",
    ),
    ("F841", 0, "def f():\n    x = 1\n", "def f():\n    y = 1\n", "failed"),
    ("F841", 0, "def f():\n    x = 1\n", "def f():\n    return 1\n", "passed"),
    ("F401", 0, "import os\n", "import sys\n", "failed"),
    ("F401", 0, "import os, sys\n", "import sys\n", "passed"),
    ("F401", 1, "import os, sys\n", "import os\n", "passed"),
    ("F401", 0, "from m import a, b, c\n", "from m import (\n    b,\n    c,\n)\n", "passed"),
    ("F401", 0, "from m import a, b, c\n", "from m import a as x, b, c\n", "failed"),
    ("N806", 0, "def f():\n    Some = 1\n    return Some\n", "def f():\n    Other = 1\n    return Other\n", "failed"),
    # the place moved
    ("F821", 0, "x = pi\ny = 1\n", "y = 1\nx = pi\n", "failed"),
    ("F841", 0, "def f():\n    x = 1\n    g()\n", "def f():\n    g()\n    x = 1\n", "failed"),
    ("F841", 0, "def f():\n    x = 1\n    g()\n", "def f():\n    g()\n    y = 1\n", "failed"),
    # one becomes two, and two become one
    ("E701", 0, "if a: b\n", "if a: b\nif c: d\n", "failed"),
    ("E703", 0, "a;\n", "a;\nb;\n", "failed"),
    ("E703", 0, "a;\nb;\n", "a\nb;\n", "passed"),
    ("E703", 1, "a;\nb;\n", "a\nb;\n", "failed"),
    ("E711", 0, "a == None\nb == None\n", "a is None\nb == None\n", "passed"),
    ("E711", 0, "a == None\nb == None\n", "a == None\nb is None\n", "failed"),
    ("E711", 0, "a == None\nb == None\n", "b == None\na is None\n", "passed"),
    ("E711", 0, "x = a == None or b == None\n", "x = a is None or b == None\n", "passed"),
    ("E711", 0, "x = a == None or b == None\n", "x = a == None or b is None\n", "failed"),
    ("SIM102", 0, NESTED, NESTED.replace("if c", "if not c"), "failed"),
    ("PLR2004", 0, "def f(a):\n    return a == 3\n", "def f(a):\n    return a == 4\n", "failed"),
]


@pytest.mark.parametrize(("rule", "index", "before", "after", "status"), STILL_AT_ITS_PLACE)
async def test_a_rule_that_is_reported_at_the_same_place_remains(
    ruff: Ruff, project: Path, rule: str, index: int, before: str, after: str, status: str
) -> None:
    file = project / "a.py"
    document = Document.from_text(file.as_uri(), before, language="python")
    finding = (await ruff.check(document, file, project, select=rule))[index].finding
    for tail in ("", "\n\ndef other():\n    later = None\n    return later == None\n"):
        old, new = (Document.from_text(file.as_uri(), text + tail, language="python") for text in (before, after))
        outcome = await check_change(ResolvedCheck(ruff, finding), Change.from_documents(old, new, file, project))
        assert outcome.status == status
