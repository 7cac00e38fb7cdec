"""Output of unknown tools, in the form that most tools use: `path:line:column: message`, and Python tracebacks."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

PROBLEM_LINE = re.compile(
    r"(?m)^[ \t]*(?P<path>(?:[A-Za-z]:[\\/])?[^\s:\"'()<>|]++)"
    r":(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?(?::[\d:-]+)?:[ \t]*"
    r"(?:(?P<severity>(?:fatal |internal compiler )?error|warning|note|info|hint|help"
    r"|[EWCRF]\d{4})\b:?[ \t]*)?(?P<message>\S.*)$"
)
FILE_PATH = re.compile(r"[\\/][^\\/]*[^\d\\/.]|\.[A-Za-z]\w{0,9}$")
"""A path before a line number that can be a file, and not a time or a host."""
FRAME = re.compile(r'[ \t]+File "([^"]+)", line (\d+)')
JAVAC_DETAILS = re.compile(
    r"\r?\n[^\n]*\r?\n(?P<lead>[ \t]*)\^[ \t]*(?=\r?\n"
    r"|\Z)(?:\r?\n[ \t]*symbol:[ \t]+(?P<kind>\w+)[ \t]+(?P<name>[^\r\n]+))?"
)
TRACEBACK_START = "Traceback (most recent call last):"
PYLINT_SEVERITIES = {"E": "error", "F": "error", "W": "warning", "C": "warning", "R": "warning"}
"""The severities of pylint's rules, by their first letter."""


def read(output: ToolOutput) -> Digest | None:
    """Return the lines that look like problems and the Python tracebacks, or None if there are none."""
    problems = [_to_problem(match) for match in _find_lines(output)]
    if TRACEBACK_START in output.text:
        problems += _read_tracebacks(output.lines)
    return Digest("output", tuple(problems)) if problems else None


def read_errors(output: ToolOutput) -> Digest | None:
    """Return only the lines that call themselves errors, or None if there are none.

    Unlike `read`, this is for the output of a known tool, in which the other lines may be logs of tests.
    """
    errors = (match for match in _find_lines(output) if (match["severity"] or "").endswith("error"))
    problems = [_to_problem(match) for match in errors]
    return Digest("output", tuple(problems)) if problems else None


def _find_lines(output: ToolOutput) -> list[re.Match[str]]:
    return [match for match in PROBLEM_LINE.finditer(output.text) if FILE_PATH.search(match["path"])]


def _to_problem(match: re.Match[str]) -> Problem:
    word = match["severity"] or "error"
    is_pylint_rule = word[1:].isdigit()
    severity = PYLINT_SEVERITIES[word[0]] if is_pylint_rule else word.rpartition(" ")[2]
    message, column = match["message"], parse_number(match["column"] or "")
    if not match["column"]:
        # javac marks the column below the line, and names the symbol below that
        below = JAVAC_DETAILS.match(match.string, match.end())
        column = len(below["lead"]) + 1 if below else column
        message = f"{message}: {below['kind']} `{below['name']}`" if below and below["name"] else message
    return Problem(
        message,
        match["path"],
        parse_number(match["line"]),
        column,
        parse_severity(severity),
        word if is_pylint_rule else "",
    )


def _read_tracebacks(lines: list[str]) -> list[Problem]:
    """Return the innermost frame of each traceback with the last line, which is the exception."""
    problems: list[Problem] = []
    frame: tuple[str, int] | None = None
    is_inside = False
    for line in lines:
        if line.endswith(TRACEBACK_START):
            is_inside, frame = True, None
        elif is_inside and (frame_match := FRAME.match(line)):
            frame = frame_match.group(1), parse_number(frame_match.group(2))
        elif is_inside and line and not line[0].isspace():
            if frame:
                problems.append(Problem(line, *frame))
            is_inside = False
    return problems
