"""Output of unittest and of `python -m doctest`, with and without `-v`.

The runner of Django prints the same as unittest, with some lines more. If all examples pass, doctest prints something
only with `-v`.
"""

import itertools
import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import COLLECTION_CODE, ToolProblem, parse_number
from lsp_harness.verify.digest.pytest import read_exception
from lsp_harness.verify.digest.test_tally import TestTally
from lsp_harness.verify.digest.tool_output import ToolOutput

EXAMPLE_HEAD = re.compile(r'File "([^"]+)", line (\d+), in (\S.*)$')
STARS = "*" * 70
NEW_COUNTS = re.compile(r"(?m)^(\d+) passed(?: and (\d+) failed)?\.$")
FAILURES = re.compile(r"(?m)^\*\*\*Test Failed\*\*\* (\d+) failures?")
ITEM = re.compile(r"(?m)^ +\d+ tests? in (\S.*)$")
IN_ITEMS = re.compile(r"(?m)^\d+ tests? in \d+ items?\.$")
MAX_LINES = 8


def read_doctest(output: ToolOutput) -> Digest | None:
    """Return the examples that fail, or None if this is no output of doctest."""
    text = output.text
    is_verbose = IN_ITEMS.search(text)
    failed = sum(parse_number(count) for count in FAILURES.findall(text))
    problems = _read_examples(output.lines)
    if not is_verbose and not failed and not problems:
        return None
    numbers = NEW_COUNTS.findall(text)
    passed = sum(parse_number(count) for count, _ in numbers)
    failed = failed or sum(parse_number(count) for _, count in numbers if count) or len(problems)
    if not passed and not is_verbose:
        passed = _count_passed(text)
    note = "" if passed or failed else "no test ran"
    is_truncated = not is_verbose and not FAILURES.search(text)
    return Digest(
        "doctest",
        tuple(problems),
        passed,
        failed,
        is_truncated=is_truncated,
        note=note,
        passed_tests=frozenset(ITEM.findall(text)) if is_verbose else None,
    )


def _count_passed(text: str) -> int:
    """Return the number of examples that passed in the items that have failures: `1 of 2 in calc.add`."""
    items = re.findall(r"(?m)^ +(\d+) of +(\d+) in \S", text)
    return sum(parse_number(total) - parse_number(failed) for failed, total in items)


def _read_examples(lines: list[str]) -> list[ToolProblem]:
    problems: list[ToolProblem] = []
    for index, line in enumerate(lines):
        match = EXAMPLE_HEAD.match(line)
        if not match or not index or lines[index - 1] != STARS:
            continue
        ends = (i for i in range(index + 1, len(lines)) if lines[i] == STARS or lines[i].startswith("Trying:"))
        block = lines[index + 1 : next(ends, len(lines))]
        path, row, name = match.groups()
        problems.append(ToolProblem(_describe(block), path, parse_number(row), test=name))
    return problems


def _describe(block: list[str]) -> str:
    example = " ".join(_list_indented(block, "Failed example:")[:2])
    if raised := _list_indented(block, "Exception raised:"):
        return f"{example}: {raised[-1]}"
    expected, got = (", ".join(_list_indented(block, head)) for head in ("Expected:", "Got:"))
    return f"{example}: expected {expected or 'nothing'}, got {got or 'nothing'}"


def _list_indented(block: list[str], head: str) -> list[str]:
    """Return the lines below a head, up to the first without indentation."""
    if head not in block:
        return []
    found: list[str] = []
    for line in block[block.index(head) + 1 :]:
        if line.strip() and not line.startswith("    "):
            break
        if line.strip():
            found.append(line.strip())
    return found if head == "Exception raised:" else found[:MAX_LINES]


RAN_LINE = re.compile(r"Ran (\d+) tests? in [\d.]+s$")
RESULT_LINE = re.compile(r"(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$")
COUNT = re.compile(r"([a-z ]+)=(\d+)")
HEAD = re.compile(r"(ERROR|FAIL|UNEXPECTED SUCCESS): (\S.*)$")
TEST_NAME = re.compile(r"(\w+) \(([\w.]+)\)(?: (\(.*\)|\[.*\]))*$")
VERBOSE_LINE = re.compile(
    r"(?:(?P<name>\w+ \([\w.]+\)).*?|.*?)(?: \.\.\.) (?P<outcome>ok|FAIL|ERROR|skipped .*|expected failure"
    r"|unexpected success)$"
)
VERBOSE_NAME = re.compile(r"(\w+ \([\w.]+\))(?: \.\.\. ?)?$")
DIVIDER, RULE = "=" * 70, "-" * 70
FAILED_IMPORT = re.compile(r"unittest\.loader\._FailedTest")
IMPORT_ERROR = re.compile(r"(?:Failed to import test module: |module )([\w.]+)$")
FRAME = re.compile(r'  File "([^"]+)", line (\d+)')


def read_unittest(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of unittest."""
    lines = output.lines
    ran = [match for line in lines if (match := RAN_LINE.match(line))]
    has_failures = any(line == DIVIDER and HEAD.match(below) for line, below in itertools.pairwise(lines))
    if not ran and not has_failures:
        return None
    tally = TestTally()
    _read_verbose(tally, lines)
    extra_errors = _read_failures(tally, lines)
    numbers = {"failures": 0, "errors": 0, "skipped": 0, "expected failures": 0, "unexpected successes": 0}
    results = [match for line in lines if (match := RESULT_LINE.match(line))]
    for result in results:
        for word, count in COUNT.findall(result.group(2) or ""):
            numbers[word.strip()] = numbers.get(word.strip(), 0) + parse_number(count)
    total = sum(parse_number(match.group(1)) for match in ran)
    skipped = numbers["skipped"] + numbers["expected failures"]
    failed = numbers["failures"] + numbers["errors"] + numbers["unexpected successes"]
    if not ran:
        return tally.digest("unittest", is_truncated=True)
    # one test with several parts fails several times, and the preparation of a class is no test
    failing_tests = sum(1 for problem in tally.failures.values() if problem.test) - extra_errors
    passed = total - skipped - failing_tests - tally.files_in_error
    if failed and not tally.failures:
        passed = total - skipped - failed
    counts = max(0, passed), max(len(tally.failures), 0 if tally.failures else failed) - tally.files_in_error, skipped
    return tally.digest("unittest", counts, is_truncated=not results)


def _to_id(name: str) -> tuple[str, bool]:
    """Return the id of a test, by which unittest runs it, and whether it stands for more than one test."""
    match = TEST_NAME.match(name)
    if not match:
        return name, True
    method, owner = match.group(1), match.group(2)
    # since Python 3.11, the name of the method is in the parentheses too
    is_fixture = method in ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
    return (owner if owner.endswith(f".{method}") else f"{owner}.{method}"), is_fixture


def _read_verbose(tally: TestTally, lines: list[str]) -> None:
    name = ""
    for line in lines:
        if line == DIVIDER:
            return
        match = VERBOSE_LINE.match(line)
        current = match["name"] if match else None
        if match and (current or name):
            test = _to_id(current or name)[0]
            if match["outcome"] in ("ok", "unexpected success"):
                tally.passed[test] = None
            elif match["outcome"].startswith(("skipped", "expected")):
                tally.skipped[test] = None
            name = ""
        elif head := VERBOSE_NAME.match(line):
            name = head.group(1)


def _read_failures(tally: TestTally, lines: list[str]) -> int:
    """Read the list of failures. Return how many of them are no tests of the number that ran."""
    extra = 0
    for index, line in enumerate(lines):
        if line != DIVIDER or index + 1 == len(lines) or not (head := HEAD.match(lines[index + 1])):
            continue
        end = next(
            (i for i in range(index + 2, len(lines)) if lines[i] == DIVIDER or RAN_LINE.match(lines[i])), len(lines)
        )
        start = next((i for i in range(index + 2, end) if lines[i] == RULE), index + 1)
        block = [part for part in lines[start + 1 : end] if part != RULE]
        extra += _add_failure(tally, head.group(2), block)
    return extra


def _add_failure(tally: TestTally, name: str, block: list[str]) -> bool:
    exception = read_exception(block)
    message = _last_exception(block) or exception.message or "failed"
    if FAILED_IMPORT.search(name):
        module = next((m.group(1) for line in block if (m := IMPORT_ERROR.search(line))), name.split(" ")[0])
        path = next(
            (p for p in _list_frames(block) if p.replace("\\", "/").endswith(module.replace(".", "/") + ".py")), ""
        )
        line = exception.line if exception.path == path else 0
        # a name that is no test is such a failure too
        tally.add_failure(ToolProblem(message, path or module.replace(".", "/") + ".py", line, code=COLLECTION_CODE))
        return False
    test, is_fixture = _to_id(name)
    tally.passed.pop(test, None)
    tally.add_failure(ToolProblem(message, exception.path, exception.line, test=test))
    return is_fixture


def _list_frames(block: list[str]) -> list[str]:
    return [match.group(1) for line in block if (match := FRAME.match(line))]


def _last_exception(block: list[str]) -> str:
    """Return the message of the last exception, which may have several lines."""
    start = next((i for i in range(len(block) - 1, -1, -1) if FRAME.match(block[i])), -1)
    if start < 0:
        return ""
    below = [line for line in block[start + 1 :] if not line.startswith(" ")]
    # unittest appends what the test printed
    end = next((i for i, line in enumerate(below) if line in ("Stdout:", "Stderr:")), len(below))
    return "\n".join(line for line in below[:end][:12] if line.strip())
