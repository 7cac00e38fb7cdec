"""Output of ruff (JSON; concise, grouped and full text) and of ty (full, concise, the JSON of GitLab's code quality).

flake8 prints the concise form of ruff.
"""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import SUMMARY_CODE, ToolProblem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import JsonObject, ToolOutput, as_int, as_object, as_objects, as_text
from lsp_harness.verify.finding import Severity

SEVERITY = r"(error|warning|info|fatal|panic)\[([a-z][\w-]*)\]"
TY_FULL_MESSAGE = re.compile(
    rf"(?m)^{SEVERITY}:? (\S.*)\n(?: *--> (.+\.(?:pyi?|ipynb)|.*pyproject\.toml|.*ty\.toml):(\d+):(\d+)$|(?=\s*$))"
)
FULL_FILE = re.compile(rf"(?m)^{SEVERITY}:? (\S.*)\n *--> ([^:\n]+\.(?:pyi?|ipynb))$")
TY_CONCISE_LINE = re.compile(rf"(?m)^(\S.*?):(\d+):(\d+): {SEVERITY} (\S.*)$")
UNPLACED_LINE = re.compile(rf"(?m)^{SEVERITY}:? (\S.*)(?=\n\s*\n|\Z|\nFound )")
LABEL = re.compile(r"(?: *\|.*\n| *\d+ \|.*\n| *:::.*\n)*? *\|[^\n]*\^+ +(\S[^\n]*)")
TY_LAST_LINE = re.compile(r"(?m)^Found \d+ diagnostics?$")
GITLAB_SEVERITIES = {"info": "information", "minor": "warning", "major": "error", "critical": "error"}


def read_ty(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of ty."""
    if output.raw.lstrip()[:1] == "[" and (digest := _read_gitlab(output)):
        return digest
    text = output.text
    if not TY_LAST_LINE.search(text) and not TY_CONCISE_LINE.search(text):
        placed = [match for match in TY_FULL_MESSAGE.finditer(text) if match[4] and "-" in match[2]]
        if not placed:
            return None
    problems = [
        ToolProblem(message, path, parse_number(row), parse_number(column), parse_severity(severity), code)
        for path, row, column, severity, code, message in TY_CONCISE_LINE.findall(text)
    ]
    for match in TY_FULL_MESSAGE.finditer(text):
        severity, code, message, path, row, column = match.groups()
        label = LABEL.match(text, match.end() + 1) if path else None
        if label and label.group(1) not in message:
            message = f"{message}: {label.group(1)}"
        place = path or "", parse_number(row or ""), parse_number(column or "")
        problems.append(ToolProblem(message, *place, parse_severity(severity), code))
    problems += [
        ToolProblem(message, path, 0, 0, parse_severity(severity), code)
        for severity, code, message, path in FULL_FILE.findall(text)
    ]
    is_truncated = not TY_LAST_LINE.search(text)
    if not problems and (last_line := TY_LAST_LINE.search(text)):
        problems = [ToolProblem(last_line.group(), code=SUMMARY_CODE)]
    return Digest("ty", tuple(problems), is_truncated=is_truncated)


def _read_gitlab(output: ToolOutput) -> Digest | None:
    value, is_truncated = output.value
    problems: list[ToolProblem] = []
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
            ToolProblem(
                message,
                as_text(location.get("path")),
                line,
                as_int(begin.get("column")),
                parse_severity(severity),
                code,
            )
        )
    return Digest("ty", tuple(problems), is_truncated=is_truncated) if problems else None


RULE = r"([A-Z]{1,8}\d{1,5}(?= )|(?:invalid-syntax|unformatted|SyntaxError)(?=:)):? (?:\[\*\] )?"
CONCISE_LINE = re.compile(rf"(?m)^(\S.*?):(\d+):(\d+): {RULE}(.+)$")
GROUPED_LINE = re.compile(rf"(?m)^ +(\d+):(\d+) +{RULE}(.+)$")
FULL_MESSAGE = re.compile(rf"(?m)^{RULE}(.+)\n *--> (.+):(\d+):(\d+)$")
GROUP_HEAD = re.compile(r"(?m)^(\S.*):$")
FORMAT_LINE = re.compile(r"(?m)^Would reformat: (.+)$")
LAST_LINE = re.compile(r"(?m)^Found \d+ errors?(?: \(.+\))?\.$")
SUCCESS = re.compile(r"(?m)^(?:All checks passed!|\d+ files? (?:would be reformatted|already formatted).*)$")


def read_ruff(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of ruff or flake8."""
    if output.raw.lstrip()[:1] in ("[", "{") and (digest := _read_json(output)):
        return digest
    problems = [
        _to_problem(code, message, path, parse_number(line), parse_number(column))
        for path, line, column, code, message in CONCISE_LINE.findall(output.text)
    ]
    problems += [
        _to_problem(code, message, path, parse_number(line), parse_number(column))
        for code, message, path, line, column in FULL_MESSAGE.findall(output.text)
    ]
    problems += _read_groups(output)
    problems += [
        _to_problem("unformatted", "File would be reformatted", path, 0, 0) for path in FORMAT_LINE.findall(output.text)
    ]
    if not problems and (last_line := LAST_LINE.search(output.text)):
        problems = [ToolProblem(last_line.group(), code=SUMMARY_CODE)]
    return Digest("ruff", tuple(problems)) if problems or SUCCESS.search(output.text) else None


def _read_json(output: ToolOutput) -> Digest | None:
    value, is_truncated = output.value
    items = as_objects(value)
    if not any(_is_ruff(item) for item in items):
        items, is_truncated = output.rows
    problems = tuple(
        _to_problem(
            as_text(item.get("code")) or "invalid-syntax",
            as_text(item.get("message")),
            as_text(item.get("filename")),
            as_int(as_object(item.get("location")).get("row")),
            as_int(as_object(item.get("location")).get("column")),
        )
        for item in items
        if _is_ruff(item)
    )
    return Digest("ruff", problems, is_truncated=is_truncated) if problems else None


def _is_ruff(item: JsonObject) -> bool:
    return isinstance(item.get("filename"), str) and "location" in item and bool(as_text(item.get("message")))


def _read_groups(output: ToolOutput) -> list[ToolProblem]:
    if not GROUPED_LINE.search(output.text):
        return []
    problems: list[ToolProblem] = []
    path = ""
    for line in output.lines:
        if head := GROUP_HEAD.match(line):
            path = head.group(1)
        elif match := GROUPED_LINE.match(line):
            row, column, code, message = match.groups()
            problems.append(_to_problem(code, message, path, parse_number(row), parse_number(column)))
    return problems


def _to_problem(code: str, message: str, path: str, line: int, column: int) -> ToolProblem:
    # ruff calls everything an error; here, as in `verify.ruff_linter`, only syntax errors are errors
    is_syntax_error = code in ("invalid-syntax", "SyntaxError") or code.startswith("E9")
    severity: Severity = "error" if is_syntax_error else "warning"
    return ToolProblem(message, path, line, column, severity, code)
