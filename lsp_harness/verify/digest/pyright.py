"""Output of pyright and basedpyright: JSON and text."""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_int, as_object, as_objects, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

PROBLEM_LINE = re.compile(r"(?m)^ +(\S.*?):(\d+):(\d+) - (error|warning|information|hint): (.*)$")
LAST_LINE = re.compile(r"(?m)^(\d+) errors?, (\d+) warnings?, \d+ (?:informations?|notes?)\b")
RULE = re.compile(r" ?\((report\w+)\)$")

MAX_MESSAGE_LINES = 20


def read(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of pyright."""
    value, is_truncated = output.value
    if "generalDiagnostics" in as_object(value):
        return Digest("pyright", tuple(_read_json(value)), is_truncated=is_truncated)
    last_line = LAST_LINE.search(output.text)
    if not PROBLEM_LINE.search(output.text):
        if not last_line:
            return None
        is_clean = last_line.groups() == ("0", "0")
        return Digest("pyright", () if is_clean else (Problem(last_line.group(), code=SUMMARY_CODE),))
    return Digest("pyright", tuple(_read_text(output.lines)), is_truncated=not last_line)


def _read_text(lines: list[str]) -> list[Problem]:
    problems: list[Problem] = []
    continuation_lines = 0
    for line in lines:
        if match := PROBLEM_LINE.match(line):
            path, row, column, severity, message = match.groups()
            problems.append(
                _split_rule(Problem(message, path, parse_number(row), parse_number(column), parse_severity(severity)))
            )
            continuation_lines = 1
        elif continuation_lines and line.replace("\xa0", " ").startswith("    "):
            continuation_lines += 1
            if continuation_lines < MAX_MESSAGE_LINES:
                last = problems[-1]
                problems[-1] = _split_rule(replace(last, message=f"{last.message}\n{line.strip()}"))
        else:
            continuation_lines = 0
    return problems


def _split_rule(problem: Problem) -> Problem:
    """Move the rule at the end of the message into the code."""
    rule = RULE.search(problem.message)
    return replace(problem, message=RULE.sub("", problem.message), code=rule.group(1)) if rule else problem


def _read_json(value: object) -> list[Problem]:
    problems: list[Problem] = []
    for item in as_objects(as_object(value).get("generalDiagnostics")):
        start = as_object(as_object(item.get("range")).get("start"))
        if as_text(item.get("message")):
            problems.append(
                Problem(
                    as_text(item.get("message")),
                    as_text(item.get("file")),
                    # JSON counts lines from 0; a problem of a whole file has no range
                    as_int(start.get("line")) + 1 if start else 0,
                    as_int(start.get("character")) + 1 if start else 0,
                    parse_severity(as_text(item.get("severity"))),
                    as_text(item.get("rule")),
                )
            )
    return problems
