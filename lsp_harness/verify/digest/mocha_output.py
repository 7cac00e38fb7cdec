"""Output of mocha: its text by the reporter `spec` and those like it, and its JSON."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.js_failure import find_js_place, read_js_failure
from lsp_harness.verify.digest.problem import ToolProblem, parse_number
from lsp_harness.verify.digest.test_tally import TestTally, join_id
from lsp_harness.verify.digest.tool_output import ToolOutput, as_int, as_object, as_objects, as_text

PASSING = re.compile(r" +(?:[✔✓√] )?(\d+) passing(?: \(.*\))?$")
PENDING = re.compile(r" +(?:[-•] )?(\d+) pending$")
FAILING = re.compile(r" +(?:[✖×] )?(?:(\d+)(?: of \d+ tests?)?) (?:failing|failed)$")
FAILURE_HEAD = re.compile(r"( +)\d+\) (\S.*?)(:?)$")
TREE_LINE = re.compile(
    r"( +)(?:[✔✓√] (?P<passed>\S.*?)(?: \(\d+ms\))?|\d+\) (?P<failed>\S.*)|- (?P<pending>\S.*)|(?P<group>\S.*))$"
)
EXCEPTION = re.compile(r"(?m)^ *Exception during run: (\S.*)$")
ERROR_LINE = re.compile(r"(?m)^ *(Error: No test files found.*)$")
REQUIRED_BY = re.compile(r"(?m)^- (\S+)$")


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of mocha."""
    if digest := _read_json(output):
        return digest
    if match := EXCEPTION.search(output.text):
        lines = output.text[match.start() :].split("\n")
        path, line = find_js_place(lines)
        required_by = REQUIRED_BY.search(output.text, match.end())
        return Digest(
            "mocha", (ToolProblem(match.group(1), path or (required_by.group(1) if required_by else ""), line),)
        )
    if match := ERROR_LINE.search(output.text):
        return Digest("mocha", (ToolProblem(match.group(1), code="usage"),))
    end = next((index for index, line in enumerate(output.lines) if PASSING.match(line)), -1)
    if end < 0:
        return None
    counts = [0, 0, 0]
    for line in output.lines[end : end + 4]:
        for column, form in enumerate((PASSING, FAILING, PENDING)):
            if match := form.match(line):
                counts[column] = parse_number(match.group(1))
    tally = TestTally()
    _read_tree(tally, output.lines[:end])
    _read_failures(tally, output.lines[end + 1 :])
    return tally.digest("mocha", (counts[0], counts[1], counts[2]))


def _read_tree(tally: TestTally, lines: list[str]) -> None:
    groups: list[tuple[int, str]] = []
    for line in lines:
        if not (match := TREE_LINE.match(line)):
            continue
        indent = len(match.group(1))
        groups = [group for group in groups if group[0] < indent]
        names = [name for _, name in groups]
        if match["group"]:
            groups.append((indent, match["group"]))
        elif match["passed"]:
            tally.passed[join_id("", *names, match["passed"])] = None
        elif match["pending"]:
            tally.skipped[join_id("", *names, match["pending"])] = None


def _read_failures(tally: TestTally, lines: list[str]) -> None:
    """Read the list of failures. The names of the groups stand above the name of the test, which ends with a colon."""
    names: list[str] = []
    block: list[str] = []
    is_named = False
    for line in [*lines, "  0) end:"]:
        head = FAILURE_HEAD.match(line)
        if head and len(head.group(1)) <= 4:
            if names and is_named:
                report = read_js_failure("\n".join(block))
                tally.add_failure(ToolProblem(report.message, report.path, report.line, test=join_id("", *names)))
            names, block, is_named = [head.group(2)], [], bool(head.group(3))
        elif names and not is_named:
            if line.strip():
                is_named = line.endswith(":")
                names.append(line.strip().removesuffix(":") if is_named else line.strip())
        elif names:
            block.append(line)


def _read_json(output: ToolOutput) -> Digest | None:
    if '"passes"' not in output.raw or '"stats"' not in output.raw:
        return None
    value, is_truncated = output.value
    report = as_object(value)
    stats = as_object(report.get("stats"))
    if "passes" not in stats:
        return None
    tally = TestTally()
    pending = {as_text(test.get("fullTitle")) for test in as_objects(report.get("pending"))}
    for test in as_objects(report.get("tests")) + as_objects(report.get("failures")):
        title, full_title = as_text(test.get("title")), as_text(test.get("fullTitle"))
        file, error = as_text(test.get("file")), as_object(test.get("err"))
        name = join_id(file, full_title.removesuffix(title), title)
        if error:
            failure = read_js_failure(as_text(error.get("stack")), as_text(error.get("message")))
            place = (failure.path, failure.line) if failure.path else (file, 0)
            tally.add_failure(ToolProblem(failure.message, *place, test=name))
        elif full_title in pending:
            tally.skipped[name] = None
        else:
            tally.passed[name] = None
    counts = as_int(stats.get("passes")), as_int(stats.get("failures")), as_int(stats.get("pending"))
    return tally.digest("mocha", counts, is_truncated=is_truncated)
