"""Output of cargo: that of rustc (JSON, text with code frames, `--message-format=short`), and that of tests."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import SUMMARY_CODE, ToolProblem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import JsonObject, ToolOutput, as_int, as_object, as_objects, as_text

MESSAGE = re.compile(r"(error|warning)(?:\[([\w:]+)\])?: (\S.*)$")
FRAME_PLACE = re.compile(r" *--> (.+\.(?!pyi?:|ipynb:)\w+):(\d+):(\d+)$")
SHORT_MESSAGE = re.compile(r"(?m)^(\S.*?\.rs):(\d+):(\d+): (error|warning)(?:\[([\w:]+)\])?: (\S.*)$")
CARGO_LINE = re.compile(
    r"(?m)^(?:(?:error|warning)(?:\[[\w:]+\])?: .*\n +--> \S+\.(?:rs|toml|lock):| +(?:(?:Compiling"
    r"|Checking) \S+ v\d|Finished `?\w"
    r"|Running (?:`|unittests |tests/))|error\[E\d{4}\]: "
    r"|error: could not compile )"
)
SUMMARY_MESSAGE = re.compile(
    r"could not compile|aborting due to|\d+ targets? failed|(?:test|doctest|bench) failed, to rerun|build failed"
    r"|.* generated \d+ warnings?\b|\d+ warnings? emitted"
    # just, which runs cargo
    r"|Recipe `.*` (?:failed|was terminated)"
)

RESOLVER_ERROR = re.compile(
    r"(?m)^error: (?:no matching package|failed to (?:select a version|get `|parse (?:manifest|lock file)"
    r"|load (?:source|manifest)"
    r"|read_cargo `|download|fetch|resolve|query|open|verify|find|update|run custom build|compile)"
    r"|could not find `Cargo\.toml`"
    r"|the lock file|manifest path|package `|the package '|the following package|rustc \S+ is not supported"
    r"|no such command"
    r"|unable to (?:update|get)|cannot (?:find|specify|update|document)|no (?:bin|example|test|bench|library) target"
    r"|invalid (?:character|type|value|feature|table)|multiple packages|cyclic package|current package believes"
    r"|virtual manifests|failed to (?:run|execute)|toolchain '|rustup could not|linker `|linking with|target `"
    r"|unexpected argument|unrecognized subcommand|none of the selected packages|the option `|to use the)"
)
"""The start of an error of cargo's resolver, of the manifest, or of rustup. It has no place in a source file."""
RESOLVER_DETAIL = re.compile(
    r"(?:location searched|required by package|candidate versions|perhaps you meant|versions that meet|the package `"
    r"|package `|previously selected|all possible versions|failed to select a version|Caused by:|    \.\.\. | {2}\S)"
)
MANIFEST_PLACE = re.compile(r"(?:manifest at|lock file at) `?([^`\n]+?(?:Cargo\.toml|Cargo\.lock))`?$")
MAX_DETAILS = 12
"""Most lines below an error without a place to keep."""
BUILD_FAILURE = re.compile(r"(?m)^error: (could not compile .*)$")
CRASH = re.compile(r"(?m)^ +process didn't exit successfully: .*\((signal: .+)\)$")

PANIC_PROBLEM = re.compile(
    r"(?m)^thread '.*' (?:\(\d+\) )?panicked at (?P<path>\S+?):(?P<line>\d+):(?P<column>\d+):\n(?P<message>.*)$"
)
TEST_RUN = re.compile(r"(?m)^running \d+ tests?$")
MAX_FRAME_LINES = 20
"""Most lines of a code frame to search for its label."""
EVENTS = ("compiler-message", "compiler-artifact", "build-script-executed", "build-finished")


def read_cargo(output: ToolOutput) -> Digest | None:
    """Return the problems that the compiler reports, or None if this is no output of cargo."""
    events, is_truncated = output.rows
    if any(event.get("reason") in EVENTS for event in events):
        messages = [as_object(event.get("message")) for event in events if event.get("reason") == "compiler-message"]
        problems = [_from_json(message) for message in messages if _is_problem(message)]
        return Digest("cargo", tuple(problems), is_truncated=is_truncated)
    text = output.text
    problems = [
        ToolProblem(message, path, parse_number(row), parse_number(column), parse_severity(severity), code)
        for path, row, column, severity, code, message in SHORT_MESSAGE.findall(text)
    ]
    is_cargo = CARGO_LINE.search(text) or RESOLVER_ERROR.search(text)
    if is_cargo:
        problems += _read_text(output.lines)
    problems += [ToolProblem(message) for message in CRASH.findall(text)]
    if is_cargo and not TEST_RUN.search(text):
        problems += _read_panics(text)
    if not problems and (failed := BUILD_FAILURE.search(text)):
        problems = [ToolProblem(failed.group(1), code=SUMMARY_CODE)]
    return Digest("cargo", tuple(problems)) if problems or is_cargo else None


def _read_panics(text: str) -> list[ToolProblem]:
    """Return the panics of a program that `cargo run` started. cargo itself says nothing about them."""
    return [
        ToolProblem(
            f"panic: {match['message'].strip()}",
            match["path"],
            parse_number(match["line"]),
            parse_number(match["column"]),
        )
        for match in PANIC_PROBLEM.finditer(text)
    ]


def _is_problem(message: JsonObject) -> bool:
    return message.get("level") in ("error", "warning", "error: internal compiler error") and not SUMMARY_MESSAGE.match(
        as_text(message.get("message"))
    )


def _from_json(message: JsonObject) -> ToolProblem:
    spans = as_objects(message.get("spans"))
    span = next((span for span in spans if span.get("is_primary") is True), spans[0] if spans else {})
    return ToolProblem(
        _add_label(as_text(message.get("message")), as_text(span.get("label"))),
        as_text(span.get("file_name")),
        as_int(span.get("line_start")),
        as_int(span.get("column_start")),
        parse_severity(as_text(message.get("level"))),
        as_text(as_object(message.get("code")).get("code")),
    )


def _add_label(message: str, label: str) -> str:
    # the label has the details: "mismatched types" lacks the expected type and the type that was found
    return message if not label or label in message or label.startswith("help: ") else f"{message}: {label}"


def _read_text(lines: list[str]) -> list[ToolProblem]:
    problems: list[ToolProblem] = []
    for index, line in enumerate(lines):
        match = MESSAGE.match(line)
        if not match or SUMMARY_MESSAGE.match(match.group(3)):
            continue
        severity, code, message = match.groups()
        frame = FRAME_PLACE.match(lines[index + 1]) if index + 1 < len(lines) else None
        if frame:
            place = frame.group(1), parse_number(frame.group(2)), parse_number(frame.group(3))
            message = _add_label(message, _read_label(lines[index + 2 : index + MAX_FRAME_LINES]))
            problems.append(ToolProblem(message, *place, parse_severity(severity), code or ""))
        elif severity == "error":
            # errors of the linker, of the resolver and in the manifest have no place
            manifest = MANIFEST_PLACE.search(message)
            message = "\n".join([message, *_read_details(lines[index + 1 : index + 40])])
            problems.append(ToolProblem(message, manifest.group(1) if manifest else "", code=code or ""))
    return problems


def _read_details(lines: list[str]) -> list[str]:
    """Return the lines below an error of the resolver or of the manifest, which say why."""
    details: list[str] = []
    for line in lines:
        if not line.strip() or line.strip() == "Caused by:":
            continue
        if not RESOLVER_DETAIL.match(line) or len(details) == MAX_DETAILS:
            break
        details.append(line.strip())
    return details


def _read_label(frame: list[str]) -> str:
    """Return the text beside the marked code of a frame."""
    for line in frame:
        if not line.strip():
            return ""
        if line.lstrip().startswith("|") and "^ " in line:
            return line.rpartition("^ ")[2].strip()
    return ""


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


def read_cargo_test(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of cargo test. The numbers of all targets are added."""
    if not TEST_RESULT.search(output.text) and not FAILED_TEST.search(output.text):
        return None
    targets = [target for target in _split(output.lines) if target.totals or target.outcomes]
    counts = Counter(target.file for target in targets)
    repeated = {file for file, count in counts.items() if count > 1}
    problems: list[ToolProblem] = []
    passed, skipped, failed = list[str](), list[str](), 0
    totals = Counter[str]()
    for target in targets:
        sections = _read_sections(target.lines)
        # a test without output has no section
        failing = dict.fromkeys([*(name for name, end in target.outcomes.items() if end == "FAILED"), *sections])
        problems += [
            replace(sections.get(name) or ToolProblem("failed"), test=target.id_of(name, repeated)) for name in failing
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


def _read_sections(lines: list[str]) -> dict[str, ToolProblem]:
    """Return the problem of each test that has a section, by the name of the test."""
    problems: dict[str, ToolProblem] = {}
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


def read_problem(test: str, lines: list[str]) -> ToolProblem:
    """Return the problem of a failed test, from the lines that it printed."""
    for index, line in enumerate(lines):
        if panic := PANIC.match(line):
            if match := PANIC_PLACE.match(panic.group(1)):
                path, row, column = match.groups()
                return ToolProblem(
                    _read_message(lines[index + 1 :]), path, parse_number(row), parse_number(column), test=test
                )
            if match := OLD_PANIC.match(panic.group(1)):
                message, path, row, column = match.groups()
                return ToolProblem(message, path, parse_number(row), parse_number(column), test=test)
        if match := OTHER_FAILURE.match(line):
            error, note, path, row, column = match.groups()
            return ToolProblem(
                error or note, path or "", parse_number(row or ""), parse_number(column or ""), test=test
            )
    return ToolProblem("failed", test=test)


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
