"""Reads the failure of one test of JavaScript: the message in one sentence, and the innermost own place.

The runners print the same parts in different orders: the class and the message, a difference, code, and a stack.
"""

import re

from lsp_harness.verify.digest.problem import parse_number
from lsp_harness.verify.digest.pytest import ExceptionReport

FRAME = re.compile(
    r"\s*(?:at |❯ |@)?(?:async )?(?:[^()\n]*?[ (])?"
    r"(?:file://|webpack://[^/]*/(?:\./)?)?((?:[A-Za-z]:[\\/])?[^\s()]*?[^\s():]\.\w+):(\d+):(\d+)\)?(?: \{)?$"
)
FRAME_START = re.compile(r"\s*(?:at (?=\S)|❯ \S)")
LIBRARY = re.compile(r"node_modules|^node:|^internal/|^<|[\\/]\.yarn[\\/]|^ext:|^bun:|^https?:")
END_OF_MESSAGE = re.compile(
    r"\s*(?:at:? \S+.*|\.\.\.|❯ \S.*|>? *\d+ ?\|.*|⎯{4,}.*"
    r"|Serialized Error: .*|\| +\^.*|generatedMessage: .*|code: '.*)$"
)
CAUSE = re.compile(r"(\s*)(?:\[?cause\]?): (?=\[?\w*(?:Error|Exception)\b)")
ERROR_CLASS = re.compile(r"^\[?(?:Uncaught )?((?:\w+\.)*\w*(?:Error|Exception|Failure))(?: \[\w+\])?: ?(?=\S)")
PLAIN_CLASSES = {"AssertionError", "Error", "JestAssertionError", "AssertionFailedError", "ComparisonFailure"}
"""Classes that say nothing: every failed comparison has one of them."""
HOW = re.compile(r" // (?:Object\.is|deep|shallow|referential).*$")
"""The explanation of a comparison behind its message."""
SIDE = re.compile(r"\s*(Expected|Received|Actual|But was)[^:]*: +(\S.*)$")
"""The expected or the actual value. NUnit and xUnit write `Actual` and `But was`."""
TEST_HEAD = re.compile(r"\s*(?:\S+:\d+:\d+ .*|.* › .*─{3,})$")
"""The place and the name of the test, which Playwright writes as the message."""
DIFFERENCE_HEAD = re.compile(r"\s*(?:([+-]) (?:actual|Received|expected|Expected)\b.*)$")
EXPECTED_FIRST = re.compile(r"\s*(?:- Expected\b.*|\+ actual - expected.*|\+ Received\b.*)$")
ACTUAL_FIRST = re.compile(r"\s*(?:\+ expected - actual.*|\[Diff\] Actual / Expected)$")
CHANGED_LINE = re.compile(r"\s*([+-])\s*(\S.*?),?$")
MAX_LINES = 200
"""Most lines of a failure to read."""
MAX_SIDE_LINES = 3
MAX_HEAD_LINES = 6


def read_js_failure(text: str, message: str = "") -> ExceptionReport:
    """Return the message and the place of a failure.

    Args:
        text: The lines that the runner prints below the name of the test: message, difference, code and stack.
        message: The message, if the runner prints it by itself.
    """
    lines = text.strip("\n").split("\n")[:MAX_LINES]
    if TEST_HEAD.match(lines[0]):
        lines, message = lines[1:], ""
    path, line = find_js_place(lines)
    body = _message_lines(lines)
    error_class = next(iter(_find_classes(lines)), "")
    own = [part.strip() for part in message.strip().split("\n")]
    # node prints an error without a stack as an object
    is_object = text.lstrip().startswith("[") and not any(CAUSE.match(line) for line in lines)
    if own[0] and (not body or is_object or not _is_about(body[0], own[0])):
        body = own
    return ExceptionReport(_summarize(body, error_class), path, line)


def _is_about(line: str, message: str) -> bool:
    # node joins the lines of its messages
    return line[:30] in message or message[:30] in line


def find_js_place(lines: list[str]) -> tuple[str, int]:
    """Return the file and the line of the innermost frame outside of packages, or an empty text and 0."""
    for line in lines:
        if FRAME_START.match(line) and (match := FRAME.match(line)) and not LIBRARY.search(match.group(1)):
            return match.group(1), parse_number(match.group(2))
    return "", 0


def _message_lines(lines: list[str]) -> list[str]:
    """Return the lines of the message, without the class of the error. The cause of a wrapped error is read instead."""
    for index, line in enumerate(lines):
        if match := CAUSE.match(line):
            lines = [line[match.end() :], *(part.removeprefix(match.group(1)) for part in lines[index + 1 :])]
            break
    end = next((index for index, line in enumerate(lines) if index and END_OF_MESSAGE.match(line)), len(lines))
    body = [line.rstrip() for line in lines[:end]]
    while body and not body[0].strip():
        body.pop(0)
    if body:
        body[0] = ERROR_CLASS.sub("", body[0].strip().removesuffix("] {"), count=1)
    return body


def _find_classes(lines: list[str]) -> list[str]:
    starts = [CAUSE.sub("", line).strip() for line in lines if CAUSE.match(line)] or [
        line.strip() for line in lines if line.strip()
    ]
    found = [match.group(1) for line in starts if (match := ERROR_CLASS.match(line))]
    return [name for name in found[:1] if name.rpartition(".")[2] not in PLAIN_CLASSES]


def _summarize(lines: list[str], error_class: str) -> str:
    head_end = next(
        (
            i
            for i, line in enumerate(lines)
            if EXPECTED_FIRST.match(line) or ACTUAL_FIRST.match(line) or SIDE.match(line)
        ),
        len(lines),
    )
    head = [HOW.sub("", ERROR_CLASS.sub("", line.strip())) for line in lines[:head_end] if line.strip()]
    head = list(dict.fromkeys(head))
    sides = {match.group(1): match.group(2) for line in lines[head_end:] if (match := SIDE.match(line))}
    if len(sides) == 2 and "Expected" in sides:
        difference = "expected {}, got {}".format(sides.pop("Expected"), *sides.values())
    else:
        difference = "" if _has_values(head) else _read_difference(lines[head_end:])
    text = "\n".join(head[:MAX_HEAD_LINES])
    text = f"{error_class}: {text}" if error_class and not text.startswith(error_class) else text
    return f"{text.rstrip(':.')}: {difference}" if difference and text else text or difference or "failed"


def _has_values(head: list[str]) -> bool:
    # chai and node write both values into the message
    return any(re.search(r"^expected .+ to |\S [!=]==? \S", line) for line in head)


def _read_difference(lines: list[str]) -> str:
    """Return the lines that differ, as `expected a, got b`."""
    removed_is_expected = not (lines and ACTUAL_FIRST.match(lines[0]))
    signs: dict[str, list[str]] = {"-": [], "+": []}
    for line in lines:
        is_head = EXPECTED_FIRST.match(line) or ACTUAL_FIRST.match(line) or DIFFERENCE_HEAD.match(line)
        if is_head and (signs["-"] or signs["+"]):
            # mocha prints the difference of node and then its own
            break
        if is_head:
            continue
        if match := CHANGED_LINE.match(line):
            signs[match.group(1)].append(match.group(2))
    expected, actual = (signs["-"], signs["+"]) if removed_is_expected else (signs["+"], signs["-"])
    if not expected and not actual:
        return ""
    sides = (", ".join(side[:MAX_SIDE_LINES]) or "nothing" for side in (expected, actual))
    return "expected {}, got {}".format(*sides)
