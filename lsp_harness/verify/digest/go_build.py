"""What go build, go vet and the compiler in go test say."""

import re
from dataclasses import replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

ROW = re.compile(r"(?m)^(?:vet: )?(\S.*?\.go):(\d+)(?::(\d+))?: (.*)$")
MODULE = re.compile(r"(?m)^go: (?!downloading |finding |found |added |upgraded |extracting |creating )(\S.*)$")

UNBUILT = re.compile(r"(?m)^FAIL\t(\S+ \[(?:build|setup) failed\])$")


def read(output: ToolOutput) -> Digest | None:
    text = output.text
    rows, cut = output.rows
    if any("Action" in row for row in rows):
        # the compiler speaks between the events, and from Go 1.24 on in events of its own
        plain = "\n".join(line for line in output.lines if not line.startswith("{"))
        text = plain + "\n" + "".join(as_text(row.get("Output")) for row in rows if not row.get("Test"))
    else:
        cut = False
    problems = _rows(text) if ROW.search(text) else []
    problems += [Problem(message, code="module") for message in MODULE.findall(text)]
    if not problems:
        problems = [Problem(line, code=SUMMARY_CODE) for line in UNBUILT.findall(text)]
    return Digest("go", tuple(problems), cut=cut) if problems else None


def _rows(text: str) -> list[Problem]:
    problems: list[Problem] = []
    below = 0
    for line in text.split("\n"):
        if found := ROW.match(line):
            path, at, column, message = found.groups()
            problems.append(Problem(message, path, parse_number(at), parse_number(column or "")))
            below = 1
        elif below and line.startswith("\t"):
            below += 1
            if below < 20:
                problems[-1] = replace(problems[-1], message=f"{problems[-1].message}\n{line.strip()}")
        else:
            below = 0
    return problems
