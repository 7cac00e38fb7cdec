"""Output of ty: full, concise, and the JSON of GitLab's code quality."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_int, as_object, as_objects, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

SEVERITY = r"(error|warning|info|fatal|panic)\[([a-z][\w-]*)\]"
FULL_MESSAGE = re.compile(
    rf"(?m)^{SEVERITY}:? (\S.*)\n(?: *--> (.+\.(?:pyi?|ipynb)|.*pyproject\.toml|.*ty\.toml):(\d+):(\d+)$|(?=\s*$))"
)
FULL_FILE = re.compile(rf"(?m)^{SEVERITY}:? (\S.*)\n *--> ([^:\n]+\.(?:pyi?|ipynb))$")
CONCISE_LINE = re.compile(rf"(?m)^(\S.*?):(\d+):(\d+): {SEVERITY} (\S.*)$")
UNPLACED_LINE = re.compile(rf"(?m)^{SEVERITY}:? (\S.*)(?=\n\s*\n|\Z|\nFound )")
LABEL = re.compile(r"(?: *\|.*\n| *\d+ \|.*\n| *:::.*\n)*? *\|[^\n]*\^+ +(\S[^\n]*)")
LAST_LINE = re.compile(r"(?m)^Found \d+ diagnostics?$")
GITLAB_SEVERITIES = {"info": "information", "minor": "warning", "major": "error", "critical": "error"}


def read(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of ty."""
    if output.raw.lstrip()[:1] == "[" and (digest := _read_gitlab(output)):
        return digest
    text = output.text
    if not LAST_LINE.search(text) and not CONCISE_LINE.search(text):
        placed = [match for match in FULL_MESSAGE.finditer(text) if match[4] and "-" in match[2]]
        if not placed:
            return None
    problems = [
        Problem(message, path, parse_number(row), parse_number(column), parse_severity(severity), code)
        for path, row, column, severity, code, message in CONCISE_LINE.findall(text)
    ]
    for match in FULL_MESSAGE.finditer(text):
        severity, code, message, path, row, column = match.groups()
        label = LABEL.match(text, match.end() + 1) if path else None
        if label and label.group(1) not in message:
            message = f"{message}: {label.group(1)}"
        place = path or "", parse_number(row or ""), parse_number(column or "")
        problems.append(Problem(message, *place, parse_severity(severity), code))
    problems += [
        Problem(message, path, 0, 0, parse_severity(severity), code)
        for severity, code, message, path in FULL_FILE.findall(text)
    ]
    is_truncated = not LAST_LINE.search(text)
    if not problems and (last_line := LAST_LINE.search(text)):
        problems = [Problem(last_line.group(), code=SUMMARY_CODE)]
    return Digest("ty", tuple(problems), is_truncated=is_truncated)


def _read_gitlab(output: ToolOutput) -> Digest | None:
    value, is_truncated = output.value
    problems: list[Problem] = []
    for item in as_objects(value):
        location = as_object(item.get("location"))
        if "check_name" not in item or "path" not in location:
            continue
        begin = as_object(as_object(location.get("positions")).get("begin"))
        line = as_int(begin.get("line")) or as_int(as_object(location.get("lines")).get("begin"))
        code = as_text(item.get("check_name"))
        severity = GITLAB_SEVERITIES.get(as_text(item.get("severity")), "error")
        message = as_text(item.get("description")).removeprefix(f"{code}: ")
        problems.append(
            Problem(
                message,
                as_text(location.get("path")),
                line,
                as_int(begin.get("column")),
                parse_severity(severity),
                code,
            )
        )
    return Digest("ty", tuple(problems), is_truncated=is_truncated) if problems else None
