"""Output of eslint: JSON, and its text for people ("stylish")."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import SUMMARY_CODE, ToolProblem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput, as_int, as_objects, as_text

PROBLEM_LINE = re.compile(r"(?m)^ +(\d+):(\d+) +(error|warning) +(\S.*)$")
LAST_LINE = re.compile(r"(?m)^✖ \d+ problems? \(.*$")


def read(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of eslint."""
    if output.raw.lstrip()[:1] == "[" and (digest := _read_json(output)):
        return digest
    if not PROBLEM_LINE.search(output.text):
        last_line = LAST_LINE.search(output.text)
        if not last_line:
            return None
        return Digest("eslint", (ToolProblem(last_line.group(), code=SUMMARY_CODE),), is_truncated=True)
    problems: list[ToolProblem] = []
    path = ""
    for line in output.lines:
        if match := PROBLEM_LINE.match(line):
            row, column, severity, rest = match.groups()
            # at least two blanks precede the rule; a file that eslint cannot parse has no rule
            message, _, rule = rest.rstrip().rpartition("  ")
            message, rule = (message, rule) if message and " " not in rule else (rest, "")
            problems.append(
                ToolProblem(message, path, parse_number(row), parse_number(column), parse_severity(severity), rule)
            )
        elif line and not line[0].isspace():
            path = line
    return Digest("eslint", tuple(problems), is_truncated=not LAST_LINE.search(output.text))


def _read_json(output: ToolOutput) -> Digest | None:
    value, is_truncated = output.value
    files = [item for item in as_objects(value) if isinstance(item.get("filePath"), str) and "messages" in item]
    if not files:
        return None
    problems = tuple(
        ToolProblem(
            as_text(item.get("message")),
            as_text(file["filePath"]),
            as_int(item.get("line")),
            as_int(item.get("column")),
            "warning" if item.get("severity") == 1 else "error",
            as_text(item.get("ruleId")),
        )
        for file in files
        for item in as_objects(file["messages"])
        if as_text(item.get("message"))
    )
    return Digest("eslint", problems, is_truncated=is_truncated)
