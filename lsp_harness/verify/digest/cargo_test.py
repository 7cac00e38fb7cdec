"""Output of cargo test, with documentation tests."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

TEST_RESULT = re.compile(r"(?m)^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")
FAILED_TEST = re.compile(r"(?m)^test (\S.*) \.\.\. FAILED$")
SECTION_HEAD = re.compile(r"---- (\S.*) stdout ----$")
PANIC = re.compile(r"(?:thread '.*' (?:\(\d+\) )?)?panicked at (.+)$")
PANIC_PLACE = re.compile(r"(.+?):(\d+):(\d+):$")
OLD_PANIC = re.compile(r"'(.*)', (.+):(\d+):(\d+)$")
OTHER_FAILURE = re.compile(r"(?:Error: (.+)|note: (test did not panic as expected)(?: at (.+):(\d+):(\d+))?)$")
MAX_MESSAGE_LINES = 20


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of cargo test."""
    totals = TEST_RESULT.findall(output.text)
    names = [name.removesuffix(" - should panic") for name in FAILED_TEST.findall(output.text)]
    if not totals and not names:
        return None
    problems_by_test = _read_sections(output.lines)
    # a test without output has no section
    failing = dict.fromkeys([*names, *problems_by_test])
    problems = tuple(problems_by_test.get(name) or Problem("failed", test=name) for name in failing)
    passed, failed, skipped = (sum(parse_number(total[column]) for total in totals) for column in range(3))
    return Digest("cargo", problems, passed, failed or len(problems), skipped, is_truncated=not totals)


def _read_sections(lines: list[str]) -> dict[str, Problem]:
    """Return the problem of each test that has a section, by the name of the test."""
    problems: dict[str, Problem] = {}
    name, section = "", list[str]()
    for line in lines:
        head = SECTION_HEAD.match(line)
        if head or line == "failures:" or line.startswith("test result: "):
            if name:
                problems.setdefault(name, _read_problem(name, section))
            name, section = head.group(1) if head else "", []
        elif name:
            section.append(line)
    if name:
        problems.setdefault(name, _read_problem(name, section))
    return problems


def _read_problem(test: str, lines: list[str]) -> Problem:
    for index, line in enumerate(lines):
        if panic := PANIC.match(line):
            if match := PANIC_PLACE.match(panic.group(1)):
                path, row, column = match.groups()
                return Problem(
                    _read_message(lines[index + 1 :]), path, parse_number(row), parse_number(column), test=test
                )
            if match := OLD_PANIC.match(panic.group(1)):
                message, path, row, column = match.groups()
                return Problem(message, path, parse_number(row), parse_number(column), test=test)
        if match := OTHER_FAILURE.match(line):
            error, note, path, row, column = match.groups()
            return Problem(error or note, path or "", parse_number(row or ""), parse_number(column or ""), test=test)
    return Problem("failed", test=test)


def _read_message(lines: list[str]) -> str:
    """Return the message of a panic: the text below its place, with the two sides of a comparison in parentheses."""
    message_lines: list[str] = []
    for line in lines[:MAX_MESSAGE_LINES]:
        if not line.strip() or line.startswith(("stack backtrace:", "note: ")):
            break
        message_lines.append(line.strip())
    head = [line for line in message_lines if not line.startswith(("left: ", "right: "))]
    sides = ", ".join(line for line in message_lines if line.startswith(("left: ", "right: ")))
    return "\n".join(head) + (f" ({sides})" if sides else "") or "failed"
