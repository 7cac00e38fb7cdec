"""Tests of the repair that inserts the code that a linter suggests, without a model."""

import pytest

from tests.coding.repair.requests import make_all_repairs, make_request

MENDED = [
    (
        "if <|>a == b or a == c<|>:\n    d\n",
        "Use `a in (b, c)` instead of multiple comparisons",
        "if a in (b, c):\n    d\n",
    ),
    ("x = 1 + <|>(not (not a))<|>\n", "Use `a` instead of `not (not a)`", "x = 1 + (a)\n"),
    ("import math\nmath.log(<|>x, 10<|>)\n", "Prefer `x` over `10`", "import math\nmath.log(x, x)\n"),
    ("<|>math.log(1, 10)<|>\n", "Prefer `math.log10(1)` over `math.log`", "import math\nmath.log10(1)\n"),
    ("import math\n<|>math.log(1, 10)<|>\n", "Prefer `math.log10(1)` over `math.log`", "import math\nmath.log10(1)\n"),
    ("math = load()\n<|>math.log(1, 10)<|>\n", "Prefer `math.log10(1)`", "math = load()\nmath.log10(1)\n"),
    (
        "f = <|>lambda x: -x<|>\n",
        "Use `operator.neg` instead of defining a lambda",
        "import operator\nf = operator.neg\n",
    ),
]


@pytest.mark.parametrize(("text", "message", "truth"), MENDED)
async def test_the_suggestion_replaces_the_quoted_code_or_the_range(text: str, message: str, truth: str) -> None:
    repairs = await make_all_repairs(make_request("a.py", text, message, "X100"))
    assert repairs[0][0].replace("\n\n", "\n") == truth
    assert repairs[0][1].kind == "suggested code"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = <|>next(a)<|>\n", "Prefer `next(...)` over a slice"),
        ("x = <|><|>1\n", "Use `2`"),
        ("x = <|>1<|>\n", "Magic value used in comparison"),
        ("x = <|>valeus<|>\n", "Undefined name `valeus`. Use `values`"),
    ],
)
async def test_a_shortened_or_missing_suggestion_is_not_used(text: str, message: str) -> None:
    repairs = await make_all_repairs(make_request("a.py", text, message, "X100"))
    assert "suggested code" not in [repair.kind for _, repair in repairs]
