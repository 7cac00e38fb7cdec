"""Tests that a repair keeps the order in which conditions and values are evaluated."""

from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.preservation.rule_changes import check_evaluation_order
from tests.verify.single_change import judge_repair

CHAIN = (
    "def f(a, b):\n    if {}:\n        return 1\n    elif {}:\n        return True\n    else:\n        return False\n"
)
BRANCHES = "if {}a:\n    x = 1\nelse:\n    x = 2\n"
TRY = "def f():\n    try:\n        x = g()\n{}    except E:\n        return h()\n"
SCRIPT = "if (a) { return 1 } else if (b) { return 2 }"
GO = "package a\nfunc f() int { if a { return 1 } else if b { return 2 }\n return 3 }\n"
RUST = "fn f() -> i32 { if a { return 1 } else if b { return 2 } 3 }\n"

SAME_ORDER = [
    ("python", CHAIN.format("a", "b"), "def f(a, b):\n    if a:\n        return 1\n    return bool(b)\n"),
    ("python", BRANCHES.format(""), "x = 1 if a else 2\n"),
    ("python", BRANCHES.format("not "), "x = 2 if a else 1\n"),
    ("python", "if a < b:\n    x = 1\nelse:\n    x = 2\n", "x = 2 if a >= b else 1\n"),
    ("python", "if a:\n    if b:\n        g()\n", "if a and b:\n    g()\n"),
    ("python", "if a:\n    return 1\nelse:\n    b = 2\n", "if a:\n    return 1\nb = 2\n"),
    ("python", TRY.format("        return x\n"), TRY.format("") + "    else:\n        return x\n"),
    ("python", "x = f()\ny = g()\n", "y = f()\nx = g()\n"),
    ("javascript", "if (a) { x = 1 } else { x = 2 }", "x = a ? 1 : 2"),
]
OTHER_ORDER = [
    ("python", CHAIN.format("a", "b"), CHAIN.format("b", "a")),
    ("python", CHAIN.format("a", "b"), "def f(a, b):\n    if b:\n        return 1\n    return bool(a)\n"),
    ("python", CHAIN.format("a", "b"), "def f(a, b):\n    if a:\n        return bool(b)\n    return 1\n"),
    ("python", CHAIN.format("a", "not b"), CHAIN.format("not b", "a")),
    ("python", BRANCHES.format(""), "x = 2 if a else 1\n"),
    ("python", "if a:\n    if b:\n        g()\n", "if b and a:\n    g()\n"),
    ("python", "while a and b:\n    g()\n", "while b and a:\n    g()\n"),
    ("python", "f()\ng()\n", "g()\nf()\n"),
    ("javascript", SCRIPT, SCRIPT.replace("(a)", "(c)").replace("(b)", "(a)").replace("(c)", "(b)")),
    ("javascript", "if (a) { x = 1 } else { x = 2 }", "x = a ? 2 : 1"),
    ("go", GO, GO.replace("if a", "if c").replace("if b", "if a").replace("if c", "if b")),
    ("rust", RUST, RUST.replace("if a", "if c").replace("if b", "if a").replace("if c", "if b")),
]


def find_objection(language: str, before: str, after: str) -> str:
    old, new = (Document.from_text("file:///p/a", text, language=language) for text in (before, after))
    return check_evaluation_order(Change.from_documents(old, new, Path("/p/a")))


@pytest.mark.parametrize(("language", "before", "after"), SAME_ORDER)
def test_code_with_the_same_evaluation_order_passes(language: str, before: str, after: str) -> None:
    assert find_objection(language, before, after) == ""


@pytest.mark.parametrize(("language", "before", "after"), OTHER_ORDER)
def test_code_with_another_evaluation_order_fails(language: str, before: str, after: str) -> None:
    assert "another order" in find_objection(language, before, after)


async def test_a_repair_that_exchanges_two_conditions_fails(tmp_path: Path) -> None:
    finding = Finding(45, 120, "Return the condition `b` directly", "ruff", "SIM103")
    file = tmp_path / "a.py"
    outcome = await judge_repair(file, "python", CHAIN.format("a", "b"), CHAIN.format("b", "a"), finding)
    assert list(outcome.lines) == ["NOT KEPT: the edit asks the conditions `a` and `b` in another order"]
