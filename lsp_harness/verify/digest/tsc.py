"""Output of tsc, plain and pretty."""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import ToolProblem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

PROBLEM_LINE = re.compile(
    r"(?m)^(?:(\S.*?)(?:\((\d+),(\d+)\)|:(\d+):(\d+))(?:: | - ))?(error|warning|message) (TS\d+): (.*)$"
)
NO_ERRORS = re.compile(r"(?m)^\[?.*\bFound 0 errors\.")

MAX_MESSAGE_LINES = 20


def read(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of tsc."""
    if not PROBLEM_LINE.search(output.text):
        return Digest("tsc") if NO_ERRORS.search(output.text) else None
    problems: list[ToolProblem] = []
    continuation_lines = 0
    for line in output.lines:
        if match := PROBLEM_LINE.match(line):
            path, row, column, pretty_row, pretty_column, severity, code, message = match.groups()
            place = parse_number(row or pretty_row or ""), parse_number(column or pretty_column or "")
            problems.append(ToolProblem(message, path or "", *place, parse_severity(severity), code))
            continuation_lines = 1
        elif continuation_lines and line.startswith("  "):
            # the last of these lines name the types that really differ
            continuation_lines += 1
            if continuation_lines < MAX_MESSAGE_LINES:
                problems[-1] = replace(problems[-1], message=f"{problems[-1].message}\n{line.strip()}")
        else:
            continuation_lines = 0
    return Digest("tsc", tuple(problems))
