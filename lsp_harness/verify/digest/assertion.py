"""What an exception says in one sentence; of a comparison that failed, what was expected and what was got."""

import re

PLAIN = re.compile(r"(?:AssertionError: )?assert (.+)$")
WHERE = re.compile(r"\+ +where (.+?) = ")
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
DETAIL = re.compile(r"(?:At index \d+ diff: |Left contains |Right contains |Extra items|Omitting ).*")


def summarize_exception(lines: list[str]) -> str:
    """The sentence for the lines of an exception as pytest prints them, without their `E`.

    `assert None == 3` is "AssertionError: expected 3, got None": what stands on the right is expected, as pytest's own
    diffs have it, but where only the right was computed.
    """
    lines = [line.strip() for line in lines]
    lines = [line for line in lines if line]
    if not lines:
        return ""
    found = PLAIN.match(lines[0])
    if not found or lines[0].endswith("..."):
        # what follows the words of an assertion is what pytest thinks of its expression
        ours = next((at for at, line in enumerate(lines) if at and line.startswith("assert ")), len(lines))
        return "\n".join(lines[:ours])
    where = [line.removeprefix("+").strip() for line in lines[1:] if WHERE.match(line)]
    detail = [line for line in lines[1:] if DETAIL.match(line)][:1]
    return ", ".join([f"AssertionError: {_compared(found.group(1), lines[1:])}", *where[:2], *detail])


def _compared(expression: str, below: list[str]) -> str:
    bare = QUOTED.sub(lambda match: "_" * len(match.group()), expression)
    left, operator, _ = bare.partition(" == ")
    if not operator or bare.count(" == ") > 1 or not _closed(left):
        return f"assert {expression}"
    got, expected = expression[: len(left)], expression[len(left) + len(operator) :]
    computed = [match.group(1) for line in below if (match := WHERE.match(line))]
    if expected in computed and got not in computed:
        got, expected = expected, got
    return f"expected {expected}, got {got}"


def _closed(text: str) -> bool:
    # `not (a == b)` and `f(a == b)` are no comparison of two values
    return not text.startswith("not ") and all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
