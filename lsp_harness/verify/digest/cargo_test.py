"""What cargo test says of tests, documentation tests among them."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

TOTAL = re.compile(r"(?m)^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")
FAILED = re.compile(r"(?m)^test (\S.*) \.\.\. FAILED$")
HEAD = re.compile(r"---- (\S.*) stdout ----$")
PANICKED = re.compile(r"(?:thread '.*' (?:\(\d+\) )?)?panicked at (.+)$")
NEW = re.compile(r"(.+?):(\d+):(\d+):$")
OLD = re.compile(r"'(.*)', (.+):(\d+):(\d+)$")
SPOKEN = re.compile(r"(?:Error: (.+)|note: (test did not panic as expected)(?: at (.+):(\d+):(\d+))?)$")
KEPT = 20


def read(output: ToolOutput) -> Digest | None:
    totals = TOTAL.findall(output.text)
    names = [name.removesuffix(" - should panic") for name in FAILED.findall(output.text)]
    if not totals and not names:
        return None
    said = _said(output.lines)
    # a test that has written nothing has no part of its own
    problems = tuple(said.get(name) or Problem("failed", test=name) for name in dict.fromkeys([*names, *said]))
    passed, failed, skipped = (sum(parse_number(total[column]) for total in totals) for column in range(3))
    return Digest("cargo", problems, passed, failed or len(problems), skipped, cut=not totals)


def _said(lines: list[str]) -> dict[str, Problem]:
    found: dict[str, Problem] = {}
    name, part = "", list[str]()
    for line in lines:
        head = HEAD.match(line)
        if head or line == "failures:" or line.startswith("test result: "):
            if name:
                found.setdefault(name, _problem(name, part))
            name, part = head.group(1) if head else "", []
        elif name:
            part.append(line)
    if name:
        found.setdefault(name, _problem(name, part))
    return found


def _problem(test: str, lines: list[str]) -> Problem:
    for at, line in enumerate(lines):
        if found := PANICKED.match(line):
            where = found.group(1)
            if new := NEW.match(where):
                path, row, column = new.groups()
                return Problem(_message(lines[at + 1 :]), path, parse_number(row), parse_number(column), test=test)
            if old := OLD.match(where):
                message, path, row, column = old.groups()
                return Problem(message, path, parse_number(row), parse_number(column), test=test)
        if found := SPOKEN.match(line):
            error, note, path, row, column = found.groups()
            return Problem(error or note, path or "", parse_number(row or ""), parse_number(column or ""), test=test)
    return Problem("failed", test=test)


def _message(lines: list[str]) -> str:
    """What follows the place of a panic: `assertion failed`, then a side a line."""
    taken: list[str] = []
    for line in lines[:KEPT]:
        if not line.strip() or line.startswith(("stack backtrace:", "note: ")):
            break
        taken.append(line.strip())
    head = [line for line in taken if not line.startswith(("left: ", "right: "))]
    sides = ", ".join(line for line in taken if line.startswith(("left: ", "right: ")))
    return "\n".join(head) + (f" ({sides})" if sides else "") or "failed"
