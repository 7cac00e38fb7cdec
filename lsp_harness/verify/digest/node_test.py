"""Output of `node --test`: events by our own reporter, the text of its reporter `spec`, and TAP.

Neither the text nor TAP, nor JUnit of older versions, names the files of tests that pass. `EVENTS_REPORTER` does.
"""

import base64
import re
from collections import defaultdict, deque

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.js_failure import read_js_failure
from lsp_harness.verify.digest.problem import COLLECTION_CODE, TEST_FILE, ToolProblem, parse_number
from lsp_harness.verify.digest.test_tally import TestTally, join_id, join_names
from lsp_harness.verify.digest.tool_output import JsonObject, ToolOutput, as_int, as_text

_REPORTER_SOURCE = """\
export default async function* (events) {
  for await (const { type, data } of events) {
    if (!/^test:(start|pass|fail|stderr)$/.test(type)) continue;
    const error = data.details?.error, cause = error?.cause ?? error;
    yield JSON.stringify({
      type, name: data.name, nesting: data.nesting, file: data.file, line: data.line, kind: data.details?.type,
      skip: data.skip, todo: data.todo, failure: error?.failureType, stack: cause?.stack,
      message: data.message ?? cause?.message ?? (cause == null ? undefined : String(cause)),
    }) + "\\n";
  }
  yield JSON.stringify({ type: "test:end" }) + "\\n";
}
"""
EVENTS_REPORTER = "data:text/javascript;base64," + base64.b64encode(_REPORTER_SOURCE.encode()).decode()
"""A reporter for the option `--test-reporter` of node: a JSON object a line for the start and the end of each test."""
TREE_LINE = re.compile(r"( *)([▶✔✖﹣⚠]) (.*?)(?: \((\d[\d.]*)ms\))?( # (?:SKIP|TODO|skip|todo)\b.*| # .*)?$")
COUNT = re.compile(r"(?m)^ℹ (tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$")
FAILURE_PLACE = re.compile(r"test at (\S.*):(\d+):(\d+)$")
UNCAUGHT = re.compile(r"(?m)^(\w*Error(?: \[\w+\])?: .+)$")


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of node's test runner."""
    return _read_events(output) or _read_spec(output)


def _read_events(output: ToolOutput) -> Digest | None:
    if '"test:' not in output.raw:
        return None
    rows, _ = output.rows
    events = [row for row in rows if as_text(row.get("type")).startswith("test:")]
    if not events:
        return None
    tally, groups = TestTally(), list[str]()
    printed = defaultdict[str, str](str)
    for event in events:
        name, level, kind = as_text(event.get("name")), as_int(event.get("nesting")), as_text(event.get("type"))
        if kind == "test:start":
            groups = [*groups[:level], name]
        elif kind == "test:stderr":
            printed[as_text(event.get("file"))] += as_text(event.get("message"))
        elif kind == "test:pass":
            _add_passed(tally, event, [*groups[:level], name])
        elif kind == "test:fail":
            file = as_text(event.get("file"))
            own = next((text for path, text in printed.items() if path and file.endswith(path)), "")
            _add_failed(tally, event, [*groups[:level], name], own)
    return tally.digest("node", is_truncated=events[-1].get("type") != "test:end")


def _is_file(event: JsonObject, names: list[str]) -> bool:
    """Return whether a result is that of a file, which node reports if it has no test or cannot be run."""
    file = as_text(event.get("file"))
    return len(names) == 1 and bool(TEST_FILE.search(names[0])) and file.endswith(names[0].removeprefix("./"))


def _is_skipped(event: JsonObject) -> bool:
    return any(event.get(key) not in (None, False) for key in ("skip", "todo"))


def _add_passed(tally: TestTally, event: JsonObject, names: list[str]) -> None:
    test = join_id(as_text(event.get("file")), *names)
    if _is_skipped(event):
        tally.skipped[test] = None
    elif not _is_file(event, names) and event.get("kind") != "suite":
        tally.passed[test] = None


def _add_failed(tally: TestTally, event: JsonObject, names: list[str], printed: str) -> None:
    file, message, kind = (as_text(event.get(key)) for key in ("file", "message", "failure"))
    if _is_file(event, names):
        uncaught = UNCAUGHT.search(printed)
        reason = uncaught.group(1) if uncaught else f"cannot be run: {message}"
        tally.add_failure(ToolProblem(reason, file, code=COLLECTION_CODE))
    elif _is_skipped(event):
        tally.skipped[join_id(file, *names)] = None
    elif kind != "subtestsFailed":
        report = read_js_failure(as_text(event.get("stack")) or message, message)
        place = (report.path, report.line) if report.path else (file, as_int(event.get("line")))
        tally.add_failure(ToolProblem(report.message, *place, test=join_id(file, *names)))


def _read_spec(output: ToolOutput) -> Digest | None:
    counts = {word: parse_number(count) for word, count in COUNT.findall(output.text)}
    if "pass" not in counts or "fail" not in counts:
        return None
    tally = TestTally()
    details = _read_details(output.lines)
    empty_files = _read_tree(tally, output, details)
    # node also counts tests of which only a subtest failed, and files without tests
    failed = len(tally.failures) - tally.files_in_error
    if not tally.failures:
        failed = counts["fail"] + counts.get("cancelled", 0)
    passed = len(tally.passed) or max(0, counts["pass"] - empty_files)
    skipped = counts.get("skipped", 0) + counts.get("todo", 0)
    return tally.digest("node", (passed, failed, skipped))


def _read_tree(
    tally: TestTally, output: ToolOutput, details: defaultdict[str, deque[tuple[str, int, list[str]]]]
) -> int:
    """Read the tree of results. Return how many files passed that have no test."""
    groups: list[str] = []
    block: list[str] | None = None
    failing: list[tuple[list[str], list[str]]] = []
    empty_files = 0
    for line in output.lines:
        if line.startswith(("ℹ tests", "✖ failing tests:")):
            break
        match = TREE_LINE.match(line)
        if not match:
            if block is not None:
                block.append(line)
            continue
        indent, sign, name, time, note = match.groups()
        level = len(indent) // 2
        is_end = len(groups) > level and groups[level] == name and bool(time)
        names = [*groups[:level], name]
        block = None
        if sign == "▶" and not time:
            groups = names
        elif is_end:
            groups = groups[:level]
            if sign == "✖" and details[name]:
                # a test with subtests that failed itself; one of which only a subtest failed is not in the list
                block = []
                failing.append((names, block))
        elif note and note.lstrip("# ").upper().startswith(("SKIP", "TODO")):
            tally.skipped[join_names(*names)] = None
        elif sign == "✔" and not level and TEST_FILE.search(name):
            empty_files += 1
        elif sign == "✔":
            tally.passed[join_names(*names)] = None
        elif sign == "✖":
            block = []
            failing.append((names, block))
    uncaught = UNCAUGHT.findall(output.text)
    for names, lines in failing:
        _add_failure(tally, names, lines, details, uncaught)
    return empty_files


def _add_failure(
    tally: TestTally,
    names: list[str],
    block: list[str],
    details: defaultdict[str, deque[tuple[str, int, list[str]]]],
    uncaught: list[str],
) -> None:
    matching = details[names[-1]]
    path, line, lines = matching.popleft() if matching else ("", 0, [])
    report = read_js_failure("\n".join(lines or block))
    if len(names) == 1 and TEST_FILE.search(names[0]):
        # the program printed why before its result
        problem = ToolProblem(uncaught[0] if uncaught else report.message, names[0], code=COLLECTION_CODE)
    else:
        place = (report.path, report.line) if report.path else (path, line)
        problem = ToolProblem(report.message, *place, test=join_names(*names))
    tally.add_failure(problem)


def _read_details(lines: list[str]) -> defaultdict[str, deque[tuple[str, int, list[str]]]]:
    """Return the places and the lines of the list of failures at the end, by the names of the tests."""
    found = defaultdict[str, deque[tuple[str, int, list[str]]]](deque)
    start = next((index for index, line in enumerate(lines) if line.startswith("✖ failing tests:")), len(lines))
    path, row = "", 0
    block: list[str] = []
    for line in lines[start + 1 :]:
        if match := FAILURE_PLACE.match(line):
            path, row = match.group(1), parse_number(match.group(2))
            block = []
        elif (match := TREE_LINE.match(line)) and match.group(2) == "✖" and not match.group(1):
            block = []
            found[match.group(3)].append((path, row, block))
        else:
            block.append(line)
    return found
