"""Output of rustc through cargo: JSON messages, text with code frames, and `--message-format=short`."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import JsonObject, as_int, as_object, as_objects, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

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
    r"|read `|download|fetch|resolve|query|open|verify|find|update|run custom build|compile)"
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

PANIC = re.compile(
    r"(?m)^thread '.*' (?:\(\d+\) )?panicked at (?P<path>\S+?):(?P<line>\d+):(?P<column>\d+):\n(?P<message>.*)$"
)
TEST_RUN = re.compile(r"(?m)^running \d+ tests?$")
MAX_FRAME_LINES = 20
"""Most lines of a code frame to search for its label."""
EVENTS = ("compiler-message", "compiler-artifact", "build-script-executed", "build-finished")


def read(output: ToolOutput) -> Digest | None:
    """Return the problems that the compiler reports, or None if this is no output of cargo."""
    events, is_truncated = output.rows
    if any(event.get("reason") in EVENTS for event in events):
        messages = [as_object(event.get("message")) for event in events if event.get("reason") == "compiler-message"]
        problems = [_from_json(message) for message in messages if _is_problem(message)]
        return Digest("cargo", tuple(problems), is_truncated=is_truncated)
    text = output.text
    problems = [
        Problem(message, path, parse_number(row), parse_number(column), parse_severity(severity), code)
        for path, row, column, severity, code, message in SHORT_MESSAGE.findall(text)
    ]
    is_cargo = CARGO_LINE.search(text) or RESOLVER_ERROR.search(text)
    if is_cargo:
        problems += _read_text(output.lines)
    problems += [Problem(message) for message in CRASH.findall(text)]
    if is_cargo and not TEST_RUN.search(text):
        problems += _read_panics(text)
    if not problems and (failed := BUILD_FAILURE.search(text)):
        problems = [Problem(failed.group(1), code=SUMMARY_CODE)]
    return Digest("cargo", tuple(problems)) if problems or is_cargo else None


def _read_panics(text: str) -> list[Problem]:
    """Return the panics of a program that `cargo run` started. cargo itself says nothing about them."""
    return [
        Problem(
            f"panic: {match['message'].strip()}",
            match["path"],
            parse_number(match["line"]),
            parse_number(match["column"]),
        )
        for match in PANIC.finditer(text)
    ]


def _is_problem(message: JsonObject) -> bool:
    return message.get("level") in ("error", "warning", "error: internal compiler error") and not SUMMARY_MESSAGE.match(
        as_text(message.get("message"))
    )


def _from_json(message: JsonObject) -> Problem:
    spans = as_objects(message.get("spans"))
    span = next((span for span in spans if span.get("is_primary") is True), spans[0] if spans else {})
    return Problem(
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


def _read_text(lines: list[str]) -> list[Problem]:
    problems: list[Problem] = []
    for index, line in enumerate(lines):
        match = MESSAGE.match(line)
        if not match or SUMMARY_MESSAGE.match(match.group(3)):
            continue
        severity, code, message = match.groups()
        frame = FRAME_PLACE.match(lines[index + 1]) if index + 1 < len(lines) else None
        if frame:
            place = frame.group(1), parse_number(frame.group(2)), parse_number(frame.group(3))
            message = _add_label(message, _read_label(lines[index + 2 : index + MAX_FRAME_LINES]))
            problems.append(Problem(message, *place, parse_severity(severity), code or ""))
        elif severity == "error":
            # errors of the linker, of the resolver and in the manifest have no place
            manifest = MANIFEST_PLACE.search(message)
            message = "\n".join([message, *_read_details(lines[index + 1 : index + 40])])
            problems.append(Problem(message, manifest.group(1) if manifest else "", code=code or ""))
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
