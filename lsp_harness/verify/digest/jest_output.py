"""Output of jest: its text, with and without `--verbose`, and its JSON, which vitest writes too."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.js_failure import find_js_place, read_js_failure
from lsp_harness.verify.digest.problem import COLLECTION_CODE, ToolProblem, parse_number
from lsp_harness.verify.digest.test_tally import TestTally, join_id
from lsp_harness.verify.digest.tool_output import JsonObject, ToolOutput, as_int, as_object, as_objects, as_text

FILE_LINE = re.compile(r"(PASS|FAIL) +(?:\S+ +)??(\S+\.\w+)(?: \(.*\))?$")
HEAD = re.compile(r" {2}● (\S.*)$")
NO_TEST = re.compile(r"Console$|Cannot log after|Test suite failed to run$|.*(?:Warning|Error):|Deprecation|process\.")
UNLOADED = "Test suite failed to run"
TESTS_LINE = re.compile(r"Tests: +(.*\d+ total)$")
SUITES_LINE = re.compile(r"(?m)^Test Suites: +(?:.*\d+ total)$")
COUNT = re.compile(r"(\d+) (failed|passed|skipped|pending|todo|disabled)")
TREE_LINE = re.compile(r"( {2,})(?:([✓✕○✎√×]) (?:(?:skipped|todo) )?(\S.*?)(?: \([\d.]+ m?s\))?|(\S.*))$")
THRESHOLD = re.compile(r"(?m)^Jest: (.*threshold.* not met.*)$")
NO_TESTS = re.compile(r"(?m)^(No tests found.*)$")
CONFIG_ERROR = re.compile(r"(?m)^ *● (?:Validation Error|.*): *\n\n +(\S.*)$")
END_OF_TREE = re.compile(r"\S|  ●")


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of jest."""
    return read_json(output, "jest") or _read_text(output)


def read_json(output: ToolOutput, tool: str) -> Digest | None:
    """Return the digest of the JSON report of jest or vitest, or None if the output has none.

    Args:
        output: The output.
        tool: The tool for the digest: `jest` or `vitest`.
    """
    if '"assertionResults"' not in output.raw:
        return None
    value, is_truncated = output.value
    report = as_object(value)
    files = as_objects(report.get("testResults"))
    if not files or (("numRuntimeErrorTestSuites" in report) != (tool == "jest") and not is_truncated):
        return None
    tally = TestTally()
    for item in files:
        _read_file(tally, item)
    counts = None
    if not is_truncated:
        skipped = sum(as_int(report.get(key)) for key in ("numPendingTests", "numTodoTests"))
        counts = as_int(report.get("numPassedTests")), as_int(report.get("numFailedTests")), skipped
    return tally.digest(tool, counts, is_truncated=is_truncated)


def _read_file(tally: TestTally, item: JsonObject) -> None:
    path = as_text(item.get("name"))
    results = as_objects(item.get("assertionResults"))
    for result in results:
        groups = result.get("ancestorTitles")
        names = [as_text(name) for name in groups] if isinstance(groups, list) else []  # pyright: ignore[reportUnknownVariableType]
        test = join_id(path, *names, as_text(result.get("title")) or as_text(result.get("fullName")))
        match as_text(result.get("status")):
            case "passed":
                tally.passed[test] = None
            case "failed":
                messages = result.get("failureMessages")
                text = as_text(messages[0]) if isinstance(messages, list) and messages else ""  # pyright: ignore[reportUnknownArgumentType]
                report = read_js_failure(text)
                place = (report.path, report.line) if report.path else (path, _line_of(result))
                tally.add_failure(ToolProblem(report.message, *place, test=test))
            case "":
                pass
            case _:
                tally.skipped[test] = None
    message = as_text(item.get("message"))
    if not results and as_text(item.get("status")) == "failed":
        tally.add_failure(_unloaded_problem(path, message.split("\n")))


def _line_of(result: JsonObject) -> int:
    return as_int(as_object(result.get("location")).get("line"))


def _unloaded_problem(path: str, lines: list[str]) -> ToolProblem:
    lines = [line.removeprefix("  ● Test suite failed to run") for line in lines]
    report = read_js_failure("\n".join(line.removeprefix("    ") for line in lines))
    own, line = find_js_place(lines)
    is_own = bool(own) and (path.endswith(own) or own.endswith(path))
    return ToolProblem(report.message, path, line if is_own else 0, code=COLLECTION_CODE)


def _read_text(output: ToolOutput) -> Digest | None:
    totals = [match for line in output.lines if (match := TESTS_LINE.match(line))]
    if not totals and not any(FILE_LINE.match(line) for line in output.lines):
        missing = NO_TESTS.search(output.text)
        return Digest("jest", (ToolProblem(missing.group(1), code="usage"),)) if missing else None
    if not totals and not any(HEAD.match(line) or SUITES_LINE.match(line) for line in output.lines):
        return None
    tally = TestTally()
    _read_lines(tally, output.lines)
    tally.others += [ToolProblem(message, code="coverage") for message in THRESHOLD.findall(output.text)]
    counts = None
    if totals:
        numbers = dict.fromkeys(("failed", "passed", "skipped", "pending", "todo", "disabled"), 0)
        for total in totals:
            for number, word in COUNT.findall(total.group(1)):
                numbers[word] += parse_number(number)
        skipped = numbers["skipped"] + numbers["pending"] + numbers["todo"] + numbers["disabled"]
        counts = numbers["passed"], numbers["failed"], skipped
    return tally.digest("jest", counts, is_truncated=not totals)


def _read_lines(tally: TestTally, lines: list[str]) -> None:
    file, head = "", ""
    block: list[str] = []
    groups: list[str] = []
    is_in_tree = False
    for line in [*lines, "Test Suites: end"]:
        file_line, new_head = FILE_LINE.match(line), HEAD.match(line)
        if file_line or new_head or line.startswith(("Test Suites:", "Summary of all failing tests")):
            _add_block(tally, file, head, block)
            head, block = new_head.group(1) if new_head else "", []
            is_in_tree, groups = bool(file_line), groups if not file_line else []
            file = file_line.group(2) if file_line else file
        elif head:
            block.append(line)
        elif is_in_tree and (match := TREE_LINE.match(line)):
            indent, sign, name, group = match.groups()
            groups = groups[: len(indent) // 2 - 1]
            if group:
                groups.append(group)
            elif sign in "✓√":
                tally.passed[join_id(file, *groups, name)] = None
            elif sign in "○✎":
                tally.skipped[join_id(file, *groups, name)] = None
        elif is_in_tree and line and not line[0].isspace():
            is_in_tree = False


def _add_block(tally: TestTally, file: str, head: str, block: list[str]) -> None:
    if head == UNLOADED:
        tally.add_failure(_unloaded_problem(file, block))
    elif head and not NO_TEST.match(head):
        report = read_js_failure("\n".join(line.removeprefix("    ") for line in block))
        test = join_id(file, *head.split(" › "))
        tally.add_failure(ToolProblem(report.message, report.path or file, report.line, test=test))
    elif head.endswith("Error:") and not file:
        tally.others.append(ToolProblem(" ".join([head, *(line.strip() for line in block[:4])]).strip(), code="usage"))
