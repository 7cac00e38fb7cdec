"""Output of go build, go vet and the compiler that go test runs."""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

PROBLEM_LINE = re.compile(r"(?m)^(?:vet: )?(\S.*?\.go):(\d+)(?::(\d+))?: (.*)$")
MODULE_ERROR = re.compile(r"(?m)^go: (?!downloading |finding |found |added |upgraded |extracting |creating )(\S.*)$")

BUILD_FAILURE = re.compile(r"(?m)^FAIL\t(\S+ \[(?:build|setup) failed\])$")

MAX_MESSAGE_LINES = 20


def read(output: ToolOutput) -> Digest | None:
    """Return the problems that the compiler and go vet report, or None if there are none."""
    text = output.text
    rows, is_truncated = output.rows
    if any("Action" in row for row in rows):
        # the messages of the compiler stand between the events; since Go 1.24 they are events of their own
        plain = "\n".join(line for line in output.lines if not line.startswith("{"))
        text = plain + "\n" + "".join(as_text(row.get("Output")) for row in rows if not row.get("Test"))
    else:
        is_truncated = False
    problems = _read_lines(text) if PROBLEM_LINE.search(text) else []
    problems += [Problem(message, code="module") for message in MODULE_ERROR.findall(text)]
    if not problems:
        problems = [Problem(line, code=SUMMARY_CODE) for line in BUILD_FAILURE.findall(text)]
    return Digest("go", tuple(problems), is_truncated=is_truncated) if problems else None


def _read_lines(text: str) -> list[Problem]:
    problems: list[Problem] = []
    continuation_lines = 0
    for line in text.split("\n"):
        if match := PROBLEM_LINE.match(line):
            path, row, column, message = match.groups()
            problems.append(Problem(message, path, parse_number(row), parse_number(column or "")))
            continuation_lines = 1
        elif continuation_lines and line.startswith("\t"):
            continuation_lines += 1
            if continuation_lines < MAX_MESSAGE_LINES:
                problems[-1] = replace(problems[-1], message=f"{problems[-1].message}\n{line.strip()}")
        else:
            continuation_lines = 0
    return problems
