"""eslint's JSON, and what it prints for people ("stylish")."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_int, as_objects, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

ROW = re.compile(r"(?m)^ +(\d+):(\d+) +(error|warning) +(\S.*)$")
END = re.compile(r"(?m)^✖ \d+ problems? \(.*$")


def read(output: ToolOutput) -> Digest | None:
    if output.raw.lstrip()[:1] == "[" and (found := _json(output)):
        return found
    if not ROW.search(output.text):
        end = END.search(output.text)
        return Digest("eslint", (Problem(end.group(), code=SUMMARY_CODE),), cut=True) if end else None
    problems: list[Problem] = []
    path = ""
    for line in output.lines:
        if found := ROW.match(line):
            at, column, severity, rest = found.groups()
            # the rule is set apart by two blanks at least, and missing where the text cannot be read at all
            message, _, rule = rest.rstrip().rpartition("  ")
            message, rule = (message, rule) if message and " " not in rule else (rest, "")
            problems.append(
                Problem(message, path, parse_number(at), parse_number(column), parse_severity(severity), rule)
            )
        elif line and not line[0].isspace():
            path = line
    return Digest("eslint", tuple(problems), cut=not END.search(output.text))


def _json(output: ToolOutput) -> Digest | None:
    value, cut = output.value
    files = [item for item in as_objects(value) if isinstance(item.get("filePath"), str) and "messages" in item]
    if not files:
        return None
    problems = tuple(
        Problem(
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
    return Digest("eslint", problems, cut=cut)
