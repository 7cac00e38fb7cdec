"""The repair of a linter's rule writes other code that uses the same data."""

from pathlib import Path

import pytest

from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import find_replaced_code, find_subject_kind, find_suggestions
from tests.verify.single_change import judge_repair

MEMBERSHIP = "Use `a in (b, c)` instead of multiple equality comparisons"
GENERATOR = "Unnecessary generator (rewrite as a list comprehension)"
NESTED = "Use a single `if` statement instead of nested `if` statements"
LAMBDA = "Do not assign a `lambda` expression, use a `def`"
METHOD = "When using only the values of a dict use the `values()` method"
STARTSWITH = "Call `startswith` once with a `tuple`"
NO_ELSE = "Unnecessary `else` after `return` statement"

ALLOWED = [
    (MEMBERSHIP, "if «a == b or a == c»:\n    d\n", "if a in (b, c):\n    d\n"),
    (GENERATOR, "odd = «list(2 * x for x in y)»\n", "odd = [2 * x for x in y]\n"),
    (NESTED, "«if a:\n    if b:»\n        c\n", "if a and b:\n    c\n"),
    (LAMBDA, "«f = lambda x: x + 1»\n", "def f(x):\n    return x + 1\n"),
    (METHOD, "for _, v in «d.items»():\n    print(v)\n", "for v in d.values():\n    print(v)\n"),
    (
        NO_ELSE,
        "def f(a):\n    if a:\n        return 1\n    «else»:\n        b = 2\n",
        "def f(a):\n    if a:\n        return 1\n    b = 2\n",
    ),
    ("Use `a != b` instead of `not a == b`", "if «not a == b»:\n    c\n", "if a != b:\n    c\n"),
    (STARTSWITH, 'x = «a.startswith(b) or a.startswith("b")»\n', 'x = a.startswith((b, "b"))\n'),
    ("Do not call `setattr` with a constant attribute value", '«setattr(a, "b", b)»\n', "a.b = b\n"),
    ("Unnecessary separator passed to `print`", '«print(a, sep="")»\n', "print(a)\n"),
    ("Sets should not contain duplicate item `1`", "s = {0, 1, «1», b}\n", "s = {0, 1, b}\n"),
    (
        "Use `list` instead of `List` for type annotation",
        "def f(x: «typing.List»[int]): ...\n",
        "def f(x: list[int]): ...\n",
    ),
]


def read(marked: str) -> tuple[str, int, int]:
    """Return a text without its marks, and the bytes between them."""
    start, end = marked.index("«"), marked.index("»") - 1
    return marked.replace("«", "").replace("»", ""), start, end


async def judge(message: str, marked: str, after: str, language: str = "python") -> Outcome:
    """Return the outcome for a repair of the finding between the marks."""
    text, start, end = read(marked)
    finding = Finding(start, end, message, "tool", "X100")
    assert find_subject_kind(finding) == "rule"
    file = Path(f"/p/a.{'py' if language == 'python' else 'js'}")
    return await judge_repair(file, language, text, after, finding)


@pytest.mark.parametrize(("message", "before", "after"), ALLOWED)
async def test_other_code_with_the_same_data_is_allowed(message: str, before: str, after: str) -> None:
    outcome = await judge(message, before, after)
    assert outcome.status == "passed", outcome.findings


@pytest.mark.parametrize(
    ("message", "before", "after", "objection"),
    [
        (MEMBERSHIP, "if «a == b or a == c»:\n    d\n", "if a == b:\n    d\n", "drops `c`"),
        (MEMBERSHIP, "if «a == b or a == c»:\n    d\n", "if a == b and a == c:\n    d\n", "replaces `or` by `and`"),
        (MEMBERSHIP, "if «a == b or a == c»:\n    d()\n", "if a in (b, c):\n    pass\n", "drops the call `d()`"),
        (STARTSWITH, 'x = «a.startswith(b) or a.startswith("b")»\n', "x = a.startswith(b)\n", "drops `b`"),
        (GENERATOR, "odd = «list(2 * x for x in y)»\n", "odd = [2 * x for x in None]\n", "drops `y`"),
        (GENERATOR, "odd = «list(2 * x for x in range(9))»\n", "odd = list()\n", "drops the call `range()`"),
        (GENERATOR, "odd = «list(2 * x for x in y)»\n", "pass\n", "drops"),
        (NESTED, "«if a:\n    if b:»\n        c\n", "if a or b:\n    c\n", "adds `or`"),
        (LAMBDA, "«f = lambda x: x + 1»\n", "def f(x):\n    return x + None\n", "adds `None`"),
        (
            NO_ELSE,
            "def f(a):\n    if a:\n        return 1\n    «else»:\n        b = 2\n",
            "def f(a):\n    if a:\n        a = 1\n    b = 2\n",
            "drops `return`",
        ),
        (
            "Use `a != b` instead of `not a == b`",
            "if «not a == b»:\n    c\n",
            "if a == b:\n    c\n",
            "drops the negation `not`",
        ),
        (
            "`zip()` without an explicit `strict=` parameter",
            "«zip(a, [1, 2], b)»\n",
            "zip(a, [1], b, strict=True)\n",
            "drops `2`",
        ),
        ("Use `with`", "«f = open(p)»\nawait g(f)\n", "with open(p) as f:\n    g(f)\n", "drops `await`"),
        (GENERATOR, "odd = «list(x for x in y)»  # all\n", "odd = [x for x in y]\n", "the comment `# all`"),
    ],
)
async def test_lost_data_and_other_conditions_are_rejected(
    message: str, before: str, after: str, objection: str
) -> None:
    outcome = await judge(message, before, after)
    assert outcome.status == "failed"
    assert objection in outcome.findings[0].message


async def test_code_beside_the_statement_must_stay() -> None:
    before = "total = count()\nif «a == b or a == c»:\n    d\n"
    outcome = await judge(MEMBERSHIP, before, "total = other()\nif a in (b, c):\n    d\n")
    assert "drops the call `count()`" in outcome.findings[0].message


async def test_other_languages_have_their_own_signs_for_conditions() -> None:
    message = "Unnecessarily complex condition"
    before = "if («a === b || a === c») { d(); }\n"
    assert (await judge(message, before, "if ([b, c].includes(a)) { d(); }\n", "javascript")).status == "passed"
    outcome = await judge(message, before, "if (a === b && a === c) { d(); }\n", "javascript")
    assert "replaces `||` by `&&`" in outcome.findings[0].message


async def test_code_that_a_message_suggests_must_keep_its_data() -> None:
    message = "Use `a if a else b` instead of `b if not a else a`"
    outcome = await judge(message, "c = «b if not a else a»\n", "c = a if a else b\n")
    assert outcome.status == "passed", outcome.findings
    outcome = await judge(message, "c = «b if not a else a or d»\n", "c = a if a else b\n")
    assert "drops `d`" in outcome.findings[0].message


def test_a_message_has_suggested_and_replaced_code() -> None:
    assert find_suggestions("Replace `x if x < y else y` with `min(y, x)`") == ["min(y, x)"]
    assert find_replaced_code("Replace `x if x < y else y` with `min(y, x)`") == ["x if x < y else y"]
    assert find_suggestions("Prefer `next(...)` over single element slice") == []
    assert find_suggestions("Undefined name `valeus`") == []
