"""Output of mypy (text, also with columns or wrapped by `--pretty`, and JSON lines) and of pyright (JSON and text).

A note of mypy belongs to the error before it. basedpyright prints what pyright does.
"""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import SUMMARY_CODE, ToolProblem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput, as_int, as_object, as_objects, as_text

PYRIGHT_LINE = re.compile(r"(?m)^ +(\S.*?):(\d+):(\d+) - (error|warning|information|hint): (.*)$")
PYRIGHT_LAST_LINE = re.compile(r"(?m)^(\d+) errors?, (\d+) warnings?, \d+ (?:informations?|notes?)\b")
PYRIGHT_RULE = re.compile(r" ?\((report\w+)\)$")

MAX_MESSAGE_LINES = 20


def read_pyright(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of pyright."""
    value, is_truncated = output.value
    if "generalDiagnostics" in as_object(value):
        return Digest("pyright", tuple(_read_pyright_json(value)), is_truncated=is_truncated)
    last_line = PYRIGHT_LAST_LINE.search(output.text)
    if not PYRIGHT_LINE.search(output.text):
        if not last_line:
            return None
        is_clean = last_line.groups() == ("0", "0")
        return Digest("pyright", () if is_clean else (ToolProblem(last_line.group(), code=SUMMARY_CODE),))
    return Digest("pyright", tuple(_read_pyright_text(output.lines)), is_truncated=not last_line)


def _read_pyright_text(lines: list[str]) -> list[ToolProblem]:
    problems: list[ToolProblem] = []
    continuation_lines = 0
    for line in lines:
        if match := PYRIGHT_LINE.match(line):
            path, row, column, severity, message = match.groups()
            problems.append(
                _split_rule(
                    ToolProblem(message, path, parse_number(row), parse_number(column), parse_severity(severity))
                )
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


def _split_rule(problem: ToolProblem) -> ToolProblem:
    """Move the rule at the end of the message into the code."""
    rule = PYRIGHT_RULE.search(problem.message)
    return replace(problem, message=PYRIGHT_RULE.sub("", problem.message), code=rule.group(1)) if rule else problem


def _read_pyright_json(value: object) -> list[ToolProblem]:
    problems: list[ToolProblem] = []
    for item in as_objects(as_object(value).get("generalDiagnostics")):
        start = as_object(as_object(item.get("range")).get("start"))
        if as_text(item.get("message")):
            problems.append(
                ToolProblem(
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


PROBLEM_LINE = re.compile(r"(?m)^(\S.*?\.(?:pyi?|ipynb)):(\d+)(?::(\d+))?(?::\d+:\d+)?: (error|warning|note): (.*)$")
LAST_LINE = re.compile(r"(?m)^Found \d+ errors? in \d+ files? \(.*$")
SUCCESS = re.compile(r"(?m)^Success: no (?:issues|errors) found in \d+ source files?")
USAGE_ERROR = re.compile(r"(?m)^mypy: (?:error: )?(.+)$")
RULE = re.compile(r"  \[([a-z][a-z0-9-]*)\]$")
JSON_KEYS = {"file", "line", "column", "message", "hint", "severity"}
MAX_NOTES = 12
"""Most notes of one error to keep: a call can have many overloads."""
MAX_WRAPPED_LINES = 8
"""Most lines into which `--pretty` wraps a message."""


def read_mypy(output: ToolOutput) -> Digest | None:
    """Return the problems, or None if this is no output of mypy."""
    if digest := _read_json(output):
        return digest
    if not PROBLEM_LINE.search(output.text):
        problems = [ToolProblem(message, code="usage") for message in USAGE_ERROR.findall(output.text)]
        problems += [ToolProblem(message, code=SUMMARY_CODE) for message in LAST_LINE.findall(output.text)]
        return Digest("mypy", tuple(problems)) if problems or SUCCESS.search(output.text) else None
    return Digest("mypy", tuple(_read_text(output.lines)))


def _read_text(lines: list[str]) -> list[ToolProblem]:
    problems: list[ToolProblem] = []
    lines_to_join = notes = 0
    for line in lines:
        if match := PROBLEM_LINE.match(line):
            path, row, column, severity, message = match.groups()
            code = RULE.search(message)
            problem = ToolProblem(
                RULE.sub("", message),
                path,
                parse_number(row),
                parse_number(column or ""),
                parse_severity(severity),
                code.group(1) if code else "",
            )
            lines_to_join = MAX_WRAPPED_LINES if severity != "note" and not code else 0
            if severity == "note" and problems and _belongs_to(problem, problems[-1]):
                notes += 1
                if notes <= MAX_NOTES and "See http" not in message:
                    problems[-1] = replace(problems[-1], message=f"{problems[-1].message}\n{message}")
            else:
                problems.append(problem)
                notes = 0
        elif lines_to_join and line and not line[0].isspace() and not LAST_LINE.match(line):
            code = RULE.search(line)
            last = problems[-1]
            problems[-1] = replace(
                last, message=f"{last.message} {RULE.sub('', line)}", code=code.group(1) if code else last.code
            )
            lines_to_join = 0 if code else lines_to_join - 1
        else:
            lines_to_join = 0
    return problems


def _belongs_to(note: ToolProblem, problem: ToolProblem) -> bool:
    return (problem.path, problem.line) == (note.path, note.line) and "Revealed type" not in note.message


def _read_json(output: ToolOutput) -> Digest | None:
    rows, is_truncated = output.rows
    problems = tuple(
        ToolProblem(
            "\n".join(filter(None, (as_text(row["message"]), as_text(row["hint"])))),
            as_text(row["file"]),
            as_int(row["line"]),
            # JSON counts columns from 0
            as_int(row["column"]) + 1,
            parse_severity(as_text(row["severity"])),
            as_text(row.get("code")),
        )
        for row in rows
        if row.keys() >= JSON_KEYS
    )
    return Digest("mypy", problems, is_truncated=is_truncated) if problems else None
