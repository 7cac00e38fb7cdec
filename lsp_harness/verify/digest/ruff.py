"""ruff's JSON, one value or a line each, and its concise, grouped and full text; flake8 prints like the concise one."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import JsonObject, as_int, as_object, as_objects, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput
from lsp_harness.verify.finding import Severity

RULE = r"([A-Z]{1,8}\d{1,5}(?= )|(?:invalid-syntax|unformatted|SyntaxError)(?=:)):? (?:\[\*\] )?"
CONCISE = re.compile(rf"(?m)^(\S.*?):(\d+):(\d+): {RULE}(.+)$")
GROUPED = re.compile(rf"(?m)^ +(\d+):(\d+) +{RULE}(.+)$")
FULL = re.compile(rf"(?m)^{RULE}(.+)\n *--> (.+):(\d+):(\d+)$")
HEAD = re.compile(r"(?m)^(\S.*):$")
PLAIN = re.compile(r"(?m)^Would reformat: (.+)$")
FOUND = re.compile(r"(?m)^Found \d+ errors?(?: \(.+\))?\.$")
CLEAN = re.compile(r"(?m)^(?:All checks passed!|\d+ files? (?:would be reformatted|already formatted).*)$")


def read(output: ToolOutput) -> Digest | None:
    if output.raw.lstrip()[:1] in ("[", "{") and (found := _json(output)):
        return found
    problems = [
        _problem(c, m, p, parse_number(at), parse_number(col)) for p, at, col, c, m in CONCISE.findall(output.text)
    ]
    problems += [
        _problem(c, m, p, parse_number(at), parse_number(col)) for c, m, p, at, col in FULL.findall(output.text)
    ]
    problems += _grouped(output)
    problems += [
        _problem("unformatted", "File would be reformatted", path, 0, 0) for path in PLAIN.findall(output.text)
    ]
    if not problems and (found := FOUND.search(output.text)):
        problems = [Problem(found.group(), code=SUMMARY_CODE)]
    return Digest("ruff", tuple(problems)) if problems or CLEAN.search(output.text) else None


def _json(output: ToolOutput) -> Digest | None:
    value, cut = output.value
    found = as_objects(value)
    if not any(_ours(item) for item in found):
        found, cut = output.rows
    problems = tuple(
        _problem(
            as_text(item.get("code")) or "invalid-syntax",
            as_text(item.get("message")),
            as_text(item.get("filename")),
            as_int(as_object(item.get("location")).get("row")),
            as_int(as_object(item.get("location")).get("column")),
        )
        for item in found
        if _ours(item)
    )
    return Digest("ruff", problems, cut=cut) if problems else None


def _ours(item: JsonObject) -> bool:
    return isinstance(item.get("filename"), str) and "location" in item and bool(as_text(item.get("message")))


def _grouped(output: ToolOutput) -> list[Problem]:
    if not GROUPED.search(output.text):
        return []
    problems: list[Problem] = []
    path = ""
    for line in output.lines:
        if head := HEAD.match(line):
            path = head.group(1)
        elif found := GROUPED.match(line):
            at, column, code, message = found.groups()
            problems.append(_problem(code, message, path, parse_number(at), parse_number(column)))
    return problems


def _problem(code: str, message: str, path: str, line: int, column: int) -> Problem:
    # to ruff all are errors: as in verify.ruff a rule is a warning, and what is no Python an error
    broken = code in ("invalid-syntax", "SyntaxError") or code.startswith("E9")
    severity: Severity = "error" if broken else "warning"
    return Problem(message, path, line, column, severity, code)
