"""Output of cargo test, with documentation tests."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

TEST_RESULT = re.compile(r"(?m)^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")
TARGET = re.compile(r" +Running (?:unittests )?([^\s(]+\.rs)? ?\(?(?:\S*[\\/])?([\w-]+?)-[0-9a-f]{16}(?:\.exe)?\)?$")
DOC_TESTS = re.compile(r" +Doc-tests \S+$")
TEST_LINE = re.compile(r"test (\S.*) \.\.\. (ok|FAILED|ignored)(?:, .*| <[\d.]+s>)?$")
FAILED_TEST = re.compile(r"(?m)^test (\S.*) \.\.\. FAILED$")
SECTION_HEAD = re.compile(r"---- (\S.*) stdout ----$")
PANIC = re.compile(r"(?:thread '.*' (?:\(\d+\) )?)?panicked at (.+)$")
PANIC_PLACE = re.compile(r"(.+?):(\d+):(\d+):$")
OLD_PANIC = re.compile(r"'(.*)', (.+):(\d+):(\d+)$")
OTHER_FAILURE = re.compile(r"(?:Error: (.+)|note: (test did not panic as expected)(?: at (.+):(\d+):(\d+))?)$")
MAX_MESSAGE_LINES = 20


@dataclass(slots=True)
class _Target:
    """One test program of a run: the unit tests of a crate, one file in `tests`, or the examples in the documentation.

    Attributes:
        file: The source file that the program was built from; empty for documentation tests.
        program: The name of the program.
        outcomes: The outcome of each test: `ok`, `FAILED` or `ignored`.
        lines: The other lines of the program.
        totals: The numbers of passed, failed and ignored tests, or None if the last line is missing.
    """

    file: str = ""
    program: str = ""
    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[str] = field(default_factory=list[str])
    totals: tuple[int, int, int] | None = None

    def id_of(self, test: str, repeated_files: Collection[str]) -> str:
        """Return the id of a test, with the file of the target: several targets may have tests of one name."""
        if not self.file:
            return test
        # each crate of a workspace has the same file
        return f"{self.program} {self.file}::{test}" if self.file in repeated_files else f"{self.file}::{test}"


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of cargo test. The numbers of all targets are added."""
    if not TEST_RESULT.search(output.text) and not FAILED_TEST.search(output.text):
        return None
    targets = [target for target in _split(output.lines) if target.totals or target.outcomes]
    counts = Counter(target.file for target in targets)
    repeated = {file for file, count in counts.items() if count > 1}
    problems: list[Problem] = []
    passed, skipped, failed = list[str](), list[str](), 0
    totals = Counter[str]()
    for target in targets:
        sections = _read_sections(target.lines)
        # a test without output has no section
        failing = dict.fromkeys([*(name for name, end in target.outcomes.items() if end == "FAILED"), *sections])
        problems += [
            replace(sections.get(name) or Problem("failed"), test=target.id_of(name, repeated)) for name in failing
        ]
        passed += [target.id_of(name, repeated) for name, end in target.outcomes.items() if end == "ok"]
        skipped += [target.id_of(name, repeated) for name, end in target.outcomes.items() if end == "ignored"]
        failed += target.totals[1] if target.totals else len(failing)
        totals["passed"] += target.totals[0] if target.totals else 0
        totals["skipped"] += target.totals[2] if target.totals else 0
    return Digest(
        "cargo",
        tuple(problems),
        totals["passed"],
        failed,
        totals["skipped"],
        is_truncated=not targets or not targets[-1].totals,
        note="" if totals.total() or failed else "no test ran",
        passed_tests=frozenset(passed) if len(passed) == totals["passed"] else None,
        skipped_tests=frozenset(skipped),
    )


def _split(lines: list[str]) -> list[_Target]:
    """Return the targets of a run, each with its lines."""
    targets = [_Target()]
    for line in lines:
        if head := TARGET.match(line):
            targets.append(_Target(head.group(1) or "", head.group(2) or ""))
        elif DOC_TESTS.match(line):
            targets.append(_Target())
        elif result := TEST_RESULT.match(line):
            passed, failed, ignored = map(parse_number, result.groups())
            targets[-1].totals = passed, failed, ignored
            targets[-1].lines.append(line)
            # without the heads, which go to another stream, the result ends a target
            targets.append(_Target())
        elif test := TEST_LINE.match(line):
            targets[-1].outcomes[test.group(1).removesuffix(" - should panic")] = test.group(2)
        else:
            targets[-1].lines.append(line)
    return targets


def _read_sections(lines: list[str]) -> dict[str, Problem]:
    """Return the problem of each test that has a section, by the name of the test."""
    problems: dict[str, Problem] = {}
    name, section = "", list[str]()
    for line in lines:
        head = SECTION_HEAD.match(line)
        if head or line == "failures:" or line.startswith("test result: "):
            if name:
                problems.setdefault(name, read_problem(name, section))
            name, section = head.group(1) if head else "", []
        elif name:
            section.append(line)
    if name:
        problems.setdefault(name, read_problem(name, section))
    return problems


def read_problem(test: str, lines: list[str]) -> Problem:
    """Return the problem of a failed test, from the lines that it printed."""
    for index, line in enumerate(lines):
        if panic := PANIC.match(line):
            if match := PANIC_PLACE.match(panic.group(1)):
                path, row, column = match.groups()
                return Problem(
                    _read_message(lines[index + 1 :]), path, parse_number(row), parse_number(column), test=test
                )
            if match := OLD_PANIC.match(panic.group(1)):
                message, path, row, column = match.groups()
                return Problem(message, path, parse_number(row), parse_number(column), test=test)
        if match := OTHER_FAILURE.match(line):
            error, note, path, row, column = match.groups()
            return Problem(error or note, path or "", parse_number(row or ""), parse_number(column or ""), test=test)
    return Problem("failed", test=test)


def _read_message(lines: list[str]) -> str:
    """Return the message of a panic: the text below its place, with the two sides of a comparison in parentheses."""
    message_lines: list[str] = []
    for line in lines[:MAX_MESSAGE_LINES]:
        if not line.strip() or line.startswith(("stack backtrace:", "note: ")):
            break
        message_lines.append(line.strip())
    head = [line for line in message_lines if not line.startswith(("left: ", "right: "))]
    sides = ", ".join(line for line in message_lines if line.startswith(("left: ", "right: ")))
    return "\n".join(head) + (f" ({sides})" if sides else "") or "failed"
