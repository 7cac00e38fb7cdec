"""mypy's text, also with columns and wrapped by --pretty, and its JSON lines. Notes belong to the error before them."""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_int, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

ROW = re.compile(r"(?m)^(\S.*?\.(?:pyi?|ipynb)):(\d+)(?::(\d+))?(?::\d+:\d+)?: (error|warning|note): (.*)$")
FOUND = re.compile(r"(?m)^Found \d+ errors? in \d+ files? \(.*$")
CLEAN = re.compile(r"(?m)^Success: no (?:issues|errors) found in \d+ source files?")
USAGE = re.compile(r"(?m)^mypy: (?:error: )?(.+)$")
CODE = re.compile(r"  \[([a-z][a-z0-9-]*)\]$")
KEYS = {"file", "line", "column", "message", "hint", "severity"}
NOTES = 12
"""Notes of one error that are kept: a call can have many overloads."""
WRAPPED = 8
"""Lines that --pretty makes of a message."""


def read(output: ToolOutput) -> Digest | None:
    found = _json(output)
    if found:
        return found
    if not ROW.search(output.text):
        said = [Problem(message, code="usage") for message in USAGE.findall(output.text)]
        said += [Problem(message, code=SUMMARY_CODE) for message in FOUND.findall(output.text)]
        return Digest("mypy", tuple(said)) if said or CLEAN.search(output.text) else None
    return Digest("mypy", tuple(_text(output.lines)))


def _text(lines: list[str]) -> list[Problem]:
    problems: list[Problem] = []
    wrapped = notes = 0
    for line in lines:
        if found := ROW.match(line):
            path, at, column, severity, message = found.groups()
            code = CODE.search(message)
            made = Problem(
                CODE.sub("", message),
                path,
                parse_number(at),
                parse_number(column or ""),
                parse_severity(severity),
                code.group(1) if code else "",
            )
            wrapped = WRAPPED if severity != "note" and not code else 0
            if severity == "note" and problems and _same(problems[-1], made):
                notes += 1
                if notes <= NOTES and "See http" not in message:
                    problems[-1] = replace(problems[-1], message=f"{problems[-1].message}\n{message}")
            else:
                problems.append(made)
                notes = 0
        elif wrapped and line and not line[0].isspace() and not FOUND.match(line):
            code = CODE.search(line)
            last = problems[-1]
            problems[-1] = replace(
                last, message=f"{last.message} {CODE.sub('', line)}", code=code.group(1) if code else last.code
            )
            wrapped = 0 if code else wrapped - 1
        else:
            wrapped = 0
    return problems


def _same(problem: Problem, note: Problem) -> bool:
    return (problem.path, problem.line) == (note.path, note.line) and "Revealed type" not in note.message


def _json(output: ToolOutput) -> Digest | None:
    rows, cut = output.rows
    problems = tuple(
        Problem(
            "\n".join(filter(None, (as_text(row["message"]), as_text(row["hint"])))),
            as_text(row["file"]),
            as_int(row["line"]),
            # columns count from 0 here, and from 1 in the text
            as_int(row["column"]) + 1,
            parse_severity(as_text(row["severity"])),
            as_text(row.get("code")),
        )
        for row in rows
        if row.keys() >= KEYS
    )
    return Digest("mypy", problems, cut=cut) if problems else None
