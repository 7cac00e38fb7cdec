"""Output of vitest: its text by the reporters `default`, `verbose` and others, and its JSON."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.jest_output import read_json
from lsp_harness.verify.digest.js_failure import read_js_failure
from lsp_harness.verify.digest.problem import COLLECTION_CODE, ToolProblem, parse_number
from lsp_harness.verify.digest.test_tally import TestTally, join_id
from lsp_harness.verify.digest.tool_output import ToolOutput

TESTS_LINE = re.compile(r" *Tests  +((?:\d+ [a-z]+(?: [a-z]+)?(?: \| )?)+(?: \(\d+\))?|no tests)$")
FILES_LINE = re.compile(r"(?m)^ *Test Files  +((?:\d+ [a-z]+(?: \| )?)+(?: \(\d+\))?|no tests)$")
COUNT = re.compile(r"(\d+) (failed|passed|skipped|todo|expected fail)")
START = re.compile(r"(?m)^ *(?:RUN|DEV) +v\d+\.\d+\.\d+")
PROJECT = r"(?:\|[^|\n]+\| |\[[^\]\n]+\] )?"
FAIL_LINE = re.compile(rf" *FAIL +{PROJECT}(\S.*?\.\w+)(?: > (.+)| \[ .* \])?$")
END_OF_BLOCK = re.compile(r"⎯{6,}|.*⎯{6,}$| *Test Files  ")
UNHANDLED = re.compile(r"⎯+ *(Unhandled (?:Error|Errors|Rejection|Source Error|Source Errors|Type Error)s?) *⎯*$")
FILE_HEAD = re.compile(rf" *[❯✓×↓] +{PROJECT}(\S.*?\.\w+) \(\d+ tests?\b")
NAMED_LINE = re.compile(rf" *([✓×↓]) +{PROJECT}(\S.*?\.\w+) > (\S.*?)(?: +\d+ms)?(?: \[.*\])?$")
LISTED_LINE = re.compile(r" {3,}([✓×↓□]) (\S.*?)(?: +\d+ms)?(?: \[.*\])?$")
NO_FILES = re.compile(r"(?m)^(No test files found.*|No test found.*|No projects matched.*)$")
THRESHOLD = re.compile(r"(?m)^ERROR: (Coverage for .* does not meet .*threshold.*)$")


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of vitest."""
    if digest := read_json(output, "vitest"):
        return digest
    totals = [match.group(1) for line in output.lines if (match := TESTS_LINE.match(line))]
    is_vitest = bool(totals or FILES_LINE.search(output.text) or START.search(output.text))
    missing = NO_FILES.search(output.text)
    if not is_vitest and not missing:
        return None
    tally = TestTally()
    if missing:
        tally.others.append(ToolProblem(missing.group(1), code="usage"))
    _read_lines(tally, output.lines)
    tally.others += [ToolProblem(message, code="coverage") for message in THRESHOLD.findall(output.text)]
    counts = None
    if totals:
        numbers = dict.fromkeys(("failed", "passed", "skipped", "todo", "expected fail"), 0)
        for total in totals:
            for number, word in COUNT.findall(total):
                numbers[word] += parse_number(number)
        counts = numbers["passed"], numbers["failed"], numbers["skipped"] + numbers["todo"]
    return tally.digest("vitest", counts, is_truncated=not totals and not missing)


def _read_lines(tally: TestTally, lines: list[str]) -> None:
    heads: list[tuple[str, str]] = []
    block: list[str] = []
    file, unhandled = "", ""
    for line in [*lines, " Test Files  end"]:
        head = FAIL_LINE.match(line)
        if head or END_OF_BLOCK.match(line):
            # one error of several tests has all their heads above it
            if heads and (not head or any(text.strip() for text in block)):
                _add_failures(tally, heads, block)
                heads = []
            if unhandled and any(text.strip() for text in block):
                report = read_js_failure("\n".join(block))
                tally.others.append(ToolProblem(report.message, report.path, report.line, code="unhandled"))
                unhandled = ""
            block = []
            if head:
                heads.append((head.group(1), head.group(2) or ""))
            elif match := UNHANDLED.match(line):
                unhandled = match.group(1)
        elif heads or unhandled:
            block.append(line)
        elif match := NAMED_LINE.match(line):
            _add_listed(tally, match.group(1), join_id(match.group(2), match.group(3)))
        elif match := FILE_HEAD.match(line):
            file = match.group(1)
        elif file and (match := LISTED_LINE.match(line)):
            _add_listed(tally, match.group(1), join_id(file, match.group(2)))


def _add_listed(tally: TestTally, sign: str, test: str) -> None:
    if sign == "✓":
        tally.passed[test] = None
    elif sign in "↓□":
        tally.skipped[test] = None


def _add_failures(tally: TestTally, heads: list[tuple[str, str]], block: list[str]) -> None:
    report = read_js_failure("\n".join(block))
    for file, names in heads:
        if names:
            place = (report.path, report.line) if report.path else (file, 0)
            tally.add_failure(ToolProblem(report.message, *place, test=join_id(file, names)))
        else:
            is_own = bool(report.path) and (file.endswith(report.path) or report.path.endswith(file))
            tally.add_failure(ToolProblem(report.message, file, report.line if is_own else 0, code=COLLECTION_CODE))
