"""tsc's text, plain and pretty."""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

ROW = re.compile(r"(?m)^(?:(\S.*?)(?:\((\d+),(\d+)\)|:(\d+):(\d+))(?:: | - ))?(error|warning|message) (TS\d+): (.*)$")
END = re.compile(r"(?m)^\[?.*\bFound 0 errors\.")


def read(output: ToolOutput) -> Digest | None:
    if not ROW.search(output.text):
        return Digest("tsc") if END.search(output.text) else None
    problems: list[Problem] = []
    below = 0
    for line in output.lines:
        if found := ROW.match(line):
            path, at, column, pretty_at, pretty_column, severity, code, message = found.groups()
            place = parse_number(at or pretty_at or ""), parse_number(column or pretty_column or "")
            problems.append(Problem(message, path or "", *place, parse_severity(severity), code))
            below = 1
        elif below and line.startswith("  "):
            # down to the types that really differ
            below += 1
            if below < 20:
                problems[-1] = replace(problems[-1], message=f"{problems[-1].message}\n{line.strip()}")
        else:
            below = 0
    return Digest("tsc", tuple(problems))
