"""Output of Go: of go build, go vet and the compiler, and of go test as text (with or without `-v`) and JSON events."""

import re
from dataclasses import dataclass, field, replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import SUMMARY_CODE, ToolProblem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput, as_text

PROBLEM_LINE = re.compile(r"(?m)^(?:vet: )?(\S.*?\.go):(\d+)(?::(\d+))?: (.*)$")
MODULE_ERROR = re.compile(r"(?m)^go: (?!downloading |finding |found |added |upgraded |extracting |creating )(\S.*)$")

BUILD_FAILED_LINE = re.compile(r"(?m)^FAIL\t(\S+ \[(?:build|setup) failed\])$")

MAX_BUILD_LINES = 20


def read_go_build(output: ToolOutput) -> Digest | None:
    """Return the problems that the compiler and go vet report, or None if there are none."""
    text = output.text
    rows, is_truncated = output.rows
    if any("Action" in row for row in rows):
        # the messages of the compiler stand between the events; since Go 1.24 they are events of their own
        plain = "\n".join(line for line in output.lines if not line.startswith("{"))
        text = plain + "\n" + "".join(as_text(row.get("Output")) for row in rows if not row.get("Test"))
    else:
        is_truncated = False
    problems = _read_lines(text) if PROBLEM_LINE.search(text) else []
    problems += [ToolProblem(message, code="module") for message in MODULE_ERROR.findall(text)]
    if not problems:
        problems = [ToolProblem(line, code=SUMMARY_CODE) for line in BUILD_FAILED_LINE.findall(text)]
    return Digest("go", tuple(problems), is_truncated=is_truncated) if problems else None


def _read_lines(text: str) -> list[ToolProblem]:
    problems: list[ToolProblem] = []
    continuation_lines = 0
    for line in text.split("\n"):
        if match := PROBLEM_LINE.match(line):
            path, row, column, message = match.groups()
            problems.append(ToolProblem(message, path, parse_number(row), parse_number(column or "")))
            continuation_lines = 1
        elif continuation_lines and line.startswith("\t"):
            continuation_lines += 1
            if continuation_lines < MAX_BUILD_LINES:
                problems[-1] = replace(problems[-1], message=f"{problems[-1].message}\n{line.strip()}")
        else:
            continuation_lines = 0
    return problems


GO_TEST_LINE = re.compile(r"(?m)^(?: *--- (?:FAIL|PASS|SKIP): \S+ \(|(?:ok  |FAIL|\?   )\t\S)")
TEST_RESULT = re.compile(r" *--- (FAIL|PASS|SKIP): (\S+) \(")
TEST_START = re.compile(r"=== (?:RUN|CONT|NAME) +(\S+)")
PACKAGE_RESULT = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(.*)")
BUILD_FAILURE = re.compile(r"\[(?:build|setup) failed\]")
LOG_LINE = re.compile(r"( +)([^\s:]+\.go):(\d+): (.*)$")
PANIC = re.compile(r"panic: (.+?)(?: \[recovered\].*)?$")
STACK_FRAME = re.compile(r"\t(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?$")
STANDARD_LIBRARY = re.compile(r"[\\/]src[\\/](?:testing|runtime)[\\/]")
MAX_MESSAGE_LINES = 20
"""Most lines of the log of one test to keep."""


@dataclass(slots=True)
class GoTestLog:
    """The log lines of one failed test in the output of `go test`.

    Attributes:
        lines: The lines of the message.
        path: The file of the first log line, or of the panic; empty if unknown.
        line: The line in that file, counted from 1; 0 if unknown.
        indent: The indentation of the last log line; -1 if the next line cannot continue it.
        has_panicked: Whether the test ended in a panic.
    """

    lines: list[str] = field(default_factory=list[str])
    path: str = ""
    line: int = 0
    indent: int = -1
    has_panicked: bool = False

    def add(self, line: str) -> None:
        """Add a line of output to the message of the failed test."""
        if match := LOG_LINE.match(line):
            if not self.path:
                self.path, self.line = match.group(2), parse_number(match.group(3))
            self.indent = len(match.group(1))
            self._append(match.group(4))
        elif match := PANIC.match(line):
            self.lines, self.path, self.has_panicked = [f"panic: {match.group(1)}"], "", True
        elif self.has_panicked:
            if not self.path and (match := STACK_FRAME.match(line)) and not STANDARD_LIBRARY.search(match.group(1)):
                self.path, self.line = match.group(1), parse_number(match.group(2))
        elif self.indent >= 0 and line[: self.indent + 1].isspace() and len(line) > self.indent:
            self._append(line.strip())
        else:
            self.indent = -1

    def _append(self, line: str) -> None:
        if len(self.lines) < MAX_MESSAGE_LINES:
            self.lines.append(line)


@dataclass(slots=True)
class GoTestRun:
    """The logs and results of all tests in one output of `go test`.

    Attributes:
        logs: The log of each test, by its package (or a number if the package is unknown) and its name.
        results: The result of each test, by the same key.
        failed_packages: The packages that failed, and their names.
        packages: The names of the packages whose tests were counted before their name was known.
    """

    logs: dict[tuple[str, str], GoTestLog] = field(default_factory=dict[tuple[str, str], GoTestLog])
    results: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    failed_packages: dict[str, str] = field(default_factory=dict[str, str])
    packages: dict[str, str] = field(default_factory=dict[str, str])

    def log_of(self, package: str, test: str) -> GoTestLog:
        """Return the log of a test, or of the package itself if the name is empty."""
        return self.logs.setdefault((package, test), GoTestLog())

    def digest(self, is_truncated: bool) -> Digest:
        """Return the digest of all tests."""
        failed = [key for key, result in self.results.items() if result == "fail"]
        # a test fails if one of its subtests fails, and then it rarely has a message of its own
        parents = {(package, test.rpartition("/")[0]) for package, test in failed}
        problems: list[ToolProblem] = []
        for key in failed:
            log = self.logs.get(key, GoTestLog())
            if log.lines or key not in parents:
                problems.append(_to_problem(log, self._id_of(key)))
        packages = {package for package, _ in failed}
        problems += [self._package_problem(*item) for item in self.failed_packages.items() if item[0] not in packages]
        passed = [self._id_of(key) for key, result in self.results.items() if result == "pass"]
        skipped = [self._id_of(key) for key, result in self.results.items() if result == "skip"]
        names = frozenset(passed), frozenset(skipped)
        return Digest("go", tuple(problems), len(passed), len(failed), len(skipped), is_truncated, "", *names)

    def _id_of(self, key: tuple[str, str]) -> str:
        """Return `package::test`: tests of several packages may have one name."""
        package = self.packages.get(key[0], "" if key[0].isdigit() else key[0])
        return f"{package}::{key[1]}" if package else key[1]

    def _package_problem(self, package: str, name: str) -> ToolProblem:
        """Return the problem of a package that failed without a failing test, by a panic or a timeout."""
        panics = (log for (owner, _), log in self.logs.items() if owner == package and log.has_panicked)
        return _to_problem(next(panics, GoTestLog()), name)


def _to_problem(log: GoTestLog, test: str) -> ToolProblem:
    return ToolProblem("\n".join(log.lines) or "failed", log.path, log.line, test=test)


def read_go_test(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of go test."""
    rows, is_truncated = output.rows
    if any("Action" in row and "Package" in row for row in rows):
        run = GoTestRun()
        unbuilt_packages = set[str]()
        for row in rows:
            package, test, action = (as_text(row.get(name)) for name in ("Package", "Test", "Action"))
            if test and action == "output":
                line = as_text(row.get("Output")).rstrip("\n")
                if not TEST_RESULT.match(line):
                    run.log_of(package, test).add(line)
            elif test and action in ("pass", "fail", "skip"):
                run.results[package, test] = action
            elif action == "output" and package:
                line = as_text(row.get("Output")).rstrip("\n")
                if BUILD_FAILURE.search(line):
                    unbuilt_packages.add(package)
                run.log_of(package, "").add(line)
            elif action == "fail" and package not in unbuilt_packages:
                run.failed_packages[package] = package
        return run.digest(is_truncated)
    return _read_text(output.lines).digest(is_truncated=False) if GO_TEST_LINE.search(output.text) else None


def _read_text(lines: list[str]) -> GoTestRun:
    run = GoTestRun()
    # the name of a package follows its tests, so a number stands for it
    package_number, current_test = 0, ""
    for line in lines:
        if match := TEST_START.match(line):
            current_test = match.group(1)
        elif match := TEST_RESULT.match(line):
            current_test = match.group(2)
            run.results[str(package_number), current_test] = match.group(1).lower()
        elif match := PACKAGE_RESULT.match(line):
            run.packages[str(package_number)] = match.group(2)
            if match.group(1) == "FAIL" and not BUILD_FAILURE.search(match.group(3)):
                run.failed_packages[str(package_number)] = match.group(2)
            package_number, current_test = package_number + 1, ""
        else:
            run.log_of(str(package_number), current_test).add(line)
    return run
