"""What most tools print, for the tools nobody here knows: `path:line:column: message`, and Python's tracebacks."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

ROW = re.compile(
    r"(?m)^[ \t]*(?P<path>(?:[A-Za-z]:[\\/])?[^\s:\"'()<>|]++)"
    r":(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?(?::[\d:-]+)?:[ \t]*"
    r"(?:(?P<severity>(?:fatal |internal compiler )?error|warning|note|info|hint|help|[EWCRF]\d{4})\b:?[ \t]*)?(?P<message>\S.*)$"
)
FILE = re.compile(r"[\\/][^\\/]*[^\d\\/.]|\.[A-Za-z]\w{0,9}$")
"""Of what stands before a number, what can be a file: neither a time nor a host."""
FRAME = re.compile(r'[ \t]+File "([^"]+)", line (\d+)')
BELOW = re.compile(
    r"\r?\n[^\n]*\r?\n(?P<lead>[ \t]*)\^[ \t]*(?=\r?\n|\Z)(?:\r?\n[ \t]*symbol:[ \t]+(?P<kind>\w+)[ \t]+(?P<name>[^\r\n]+))?"
)
START = "Traceback (most recent call last):"
LETTERS = {"E": "error", "F": "error", "W": "warning", "C": "warning", "R": "warning"}
"""pylint's."""


def read(output: ToolOutput) -> Digest | None:
    problems = [_problem(found) for found in _rows(output)]
    if START in output.text:
        problems += _tracebacks(output.lines)
    return Digest("output", tuple(problems)) if problems else None


def read_errors(output: ToolOutput) -> Digest | None:
    """Only what calls itself an error: beside a tool that is understood, the rest may be what tests log."""
    problems = [_problem(found) for found in _rows(output) if (found["severity"] or "").endswith("error")]
    return Digest("output", tuple(problems)) if problems else None


def _rows(output: ToolOutput) -> list[re.Match[str]]:
    return [found for found in ROW.finditer(output.text) if FILE.search(found["path"])]


def _problem(found: re.Match[str]) -> Problem:
    word = found["severity"] or "error"
    lint = word[1:].isdigit()
    severity = LETTERS[word[0]] if lint else word.rpartition(" ")[2]
    message, column = found["message"], parse_number(found["column"] or "")
    if not found["column"]:
        # javac says the column by a mark below the line, and the name below that
        below = BELOW.match(found.string, found.end())
        column = len(below["lead"]) + 1 if below else column
        message = f"{message}: {below['kind']} `{below['name']}`" if below and below["name"] else message
    return Problem(
        message, found["path"], parse_number(found["line"]), column, parse_severity(severity), word if lint else ""
    )


def _tracebacks(lines: list[str]) -> list[Problem]:
    """The innermost frame of each traceback, with the line that ends it."""
    problems: list[Problem] = []
    frame: tuple[str, int] | None = None
    inside = False
    for line in lines:
        if line.endswith(START):
            inside, frame = True, None
        elif inside and (found := FRAME.match(line)):
            frame = found.group(1), parse_number(found.group(2))
        elif inside and line and not line[0].isspace():
            if frame:
                problems.append(Problem(line, *frame))
            inside = False
    return problems
