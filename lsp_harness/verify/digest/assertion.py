"""Summarizes an exception in one sentence; for a failed comparison, the expected and the actual value."""

import re

ASSERTION = re.compile(r"(?:AssertionError: )?assert (.+)$")
VALUE_SOURCE = re.compile(r"\+ +where (.+?) = ")
STRING_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
DIFFERENCE_DETAIL = re.compile(r"(?:At index \d+ diff: |Left contains |Right contains |Extra items|Omitting ).*")


def summarize_exception(lines: list[str]) -> str:
    """Return the sentence for an exception.

    `assert None == 3` becomes "AssertionError: expected 3, got None". As in the diffs of pytest, the right side is the
    expected value, unless only the right side was computed.

    Args:
        lines: The lines of the exception as pytest prints them, without their `E`.
    """
    lines = [line.strip() for line in lines]
    lines = [line for line in lines if line]
    if not lines:
        return ""
    assertion = ASSERTION.match(lines[0])
    if not assertion or lines[0].endswith("..."):
        # below the message of an assertion, pytest prints its own analysis of the expression
        end = next((index for index, line in enumerate(lines) if index and line.startswith("assert ")), len(lines))
        return "\n".join(lines[:end])
    sources = [line.removeprefix("+").strip() for line in lines[1:] if VALUE_SOURCE.match(line)]
    details = [line for line in lines[1:] if DIFFERENCE_DETAIL.match(line)][:1]
    return ", ".join([f"AssertionError: {_describe_comparison(assertion.group(1), lines[1:])}", *sources[:2], *details])


def _describe_comparison(expression: str, lines_below: list[str]) -> str:
    """Return the expected and the actual value, or the whole expression if it is no comparison of two values."""
    without_strings = STRING_LITERAL.sub(lambda match: "_" * len(match.group()), expression)
    left, operator, _ = without_strings.partition(" == ")
    if not operator or without_strings.count(" == ") > 1 or not _is_whole_operand(left):
        return f"assert {expression}"
    got, expected = expression[: len(left)], expression[len(left) + len(operator) :]
    computed = [match.group(1) for line in lines_below if (match := VALUE_SOURCE.match(line))]
    if expected in computed and got not in computed:
        got, expected = expected, got
    return f"expected {expected}, got {got}"


def _is_whole_operand(text: str) -> bool:
    # `not (a == b)` and `f(a == b)` do not compare two values
    return not text.startswith("not ") and all(
        text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}")
    )
