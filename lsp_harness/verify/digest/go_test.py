"""What go test says of tests, as text (with or without -v) and as JSON events."""

import re
from dataclasses import dataclass, field

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import as_text
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

MARK = re.compile(r"(?m)^(?: *--- (?:FAIL|PASS|SKIP): \S+ \(|(?:ok  |FAIL|\?   )\t\S)")
RESULT = re.compile(r" *--- (FAIL|PASS|SKIP): (\S+) \(")
RUNS = re.compile(r"=== (?:RUN|CONT|NAME) +(\S+)")
PACKAGE = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(.*)")
UNBUILT = re.compile(r"\[(?:build|setup) failed\]")
LOG = re.compile(r"( +)([^\s:]+\.go):(\d+): (.*)$")
PANIC = re.compile(r"panic: (.+?)(?: \[recovered\].*)?$")
FRAME = re.compile(r"\t(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?$")
OWN = re.compile(r"[\\/]src[\\/](?:testing|runtime)[\\/]")
KEPT = 20
"""Lines that are kept of what one test says."""


@dataclass(slots=True)
class Said:
    """What one test said of itself."""

    lines: list[str] = field(default_factory=list[str])
    path: str = ""
    line: int = 0
    indent: int = -1
    panicked: bool = False

    def take(self, line: str) -> None:
        if found := LOG.match(line):
            if not self.path:
                self.path, self.line = found.group(2), parse_number(found.group(3))
            self.indent = len(found.group(1))
            self._keep(found.group(4))
        elif found := PANIC.match(line):
            self.lines, self.path, self.panicked = [f"panic: {found.group(1)}"], "", True
        elif self.panicked:
            if not self.path and (found := FRAME.match(line)) and not OWN.search(found.group(1)):
                self.path, self.line = found.group(1), parse_number(found.group(2))
        elif self.indent >= 0 and line[: self.indent + 1].isspace() and len(line) > self.indent:
            self._keep(line.strip())
        else:
            self.indent = -1

    def _keep(self, line: str) -> None:
        if len(self.lines) < KEPT:
            self.lines.append(line)


@dataclass(slots=True)
class Tests:
    """All tests, by package (where it is known) and name, in the order in which they were spoken of."""

    said: dict[tuple[str, str], Said] = field(default_factory=dict[tuple[str, str], Said])
    results: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    broken: dict[str, str] = field(default_factory=dict[str, str])
    """Packages that failed, and what they are called."""

    def of(self, package: str, test: str) -> Said:
        return self.said.setdefault((package, test), Said())

    def digest(self, is_truncated: bool) -> Digest:
        failed = [key for key, result in self.results.items() if result == "fail"]
        # a test fails with its parts, and seldom has more to say
        parents = {(package, test.rpartition("/")[0]) for package, test in failed}
        problems: list[Problem] = []
        for key in failed:
            said = self.said.get(key, Said())
            if said.lines or key not in parents:
                problems.append(Problem("\n".join(said.lines) or "failed", said.path, said.line, test=key[1]))
        packages = {package for package, _ in failed}
        problems += [self._silent(*item) for item in self.broken.items() if item[0] not in packages]
        results = list(self.results.values())
        return Digest("go", tuple(problems), results.count("pass"), len(failed), results.count("skip"), is_truncated)

    def _silent(self, package: str, name: str) -> Problem:
        """A package in which no test is said to have failed: a goroutine panicked, or the time was over."""
        spoke = (said for (of, _), said in self.said.items() if of == package and said.panicked)
        said = next(spoke, Said())
        return Problem("\n".join(said.lines) or "failed", said.path, said.line, test=name)


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of go test."""
    rows, cut = output.rows
    if any("Action" in row and "Package" in row for row in rows):
        tests = Tests()
        unbuilt = set[str]()
        for row in rows:
            package, test, action = (as_text(row.get(name)) for name in ("Package", "Test", "Action"))
            if test and action == "output":
                line = as_text(row.get("Output")).rstrip("\n")
                if not RESULT.match(line):
                    tests.of(package, test).take(line)
            elif test and action in ("pass", "fail", "skip"):
                tests.results[package, test] = action
            elif action == "output" and package:
                line = as_text(row.get("Output")).rstrip("\n")
                if UNBUILT.search(line):
                    unbuilt.add(package)
                tests.of(package, "").take(line)
            elif action == "fail" and package not in unbuilt:
                tests.broken[package] = package
        return tests.digest(cut)
    return _text(output.lines).digest(is_truncated=False) if MARK.search(output.text) else None


def _text(lines: list[str]) -> Tests:
    tests = Tests()
    # whose tests these are is only said after them
    block, current = 0, ""
    for line in lines:
        if found := RUNS.match(line):
            current = found.group(1)
        elif found := RESULT.match(line):
            current = found.group(2)
            tests.results[str(block), current] = found.group(1).lower()
        elif found := PACKAGE.match(line):
            if found.group(1) == "FAIL" and not UNBUILT.search(found.group(3)):
                tests.broken[str(block)] = found.group(2)
            block, current = block + 1, ""
        else:
            tests.of(str(block), current).take(line)
    return tests
