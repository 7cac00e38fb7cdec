"""pyright's JSON and text; basedpyright prints the same."""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_int, as_object, as_objects, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

ROW = re.compile(r"(?m)^ +(\S.*?):(\d+):(\d+) - (error|warning|information|hint): (.*)$")
END = re.compile(r"(?m)^(\d+) errors?, (\d+) warnings?, \d+ (?:informations?|notes?)\b")
RULE = re.compile(r" ?\((report\w+)\)$")


def read(output: ToolOutput) -> Digest | None:
    value, cut = output.value
    if "generalDiagnostics" in as_object(value):
        return Digest("pyright", tuple(_json(value)), cut=cut)
    ended = END.search(output.text)
    if not ROW.search(output.text):
        if not ended:
            return None
        clean = ended.groups() == ("0", "0")
        return Digest("pyright", () if clean else (Problem(ended.group(), code=SUMMARY_CODE),))
    return Digest("pyright", tuple(_text(output.lines)), cut=not ended)


def _text(lines: list[str]) -> list[Problem]:
    problems: list[Problem] = []
    below = 0
    for line in lines:
        if found := ROW.match(line):
            path, at, column, severity, message = found.groups()
            problems.append(
                _ruled(Problem(message, path, parse_number(at), parse_number(column), parse_severity(severity)))
            )
            below = 1
        elif below and line.replace("\xa0", " ").startswith("    "):
            below += 1
            if below < 20:
                last = problems[-1]
                problems[-1] = _ruled(replace(last, message=f"{last.message}\n{line.strip()}"))
        else:
            below = 0
    return problems


def _ruled(problem: Problem) -> Problem:
    rule = RULE.search(problem.message)
    return replace(problem, message=RULE.sub("", problem.message), code=rule.group(1)) if rule else problem


def _json(value: object) -> list[Problem]:
    problems: list[Problem] = []
    for item in as_objects(as_object(value).get("generalDiagnostics")):
        start = as_object(as_object(item.get("range")).get("start"))
        if as_text(item.get("message")):
            problems.append(
                Problem(
                    as_text(item.get("message")),
                    as_text(item.get("file")),
                    # from 0 here, and from 1 in the text; what is about a whole file has none
                    as_int(start.get("line")) + 1 if start else 0,
                    as_int(start.get("character")) + 1 if start else 0,
                    parse_severity(as_text(item.get("severity"))),
                    as_text(item.get("rule")),
                )
            )
    return problems
