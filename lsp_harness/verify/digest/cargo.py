"""What rustc says through cargo: JSON messages, text with code frames, and --message-format=short."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.partial_json import JsonObject, as_int, as_object, as_objects, as_text
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

HEAD = re.compile(r"(error|warning)(?:\[([\w:]+)\])?: (\S.*)$")
ARROW = re.compile(r" *--> (.+):(\d+):(\d+)$")
SHORT = re.compile(r"(?m)^(\S.*?\.rs):(\d+):(\d+): (error|warning)(?:\[([\w:]+)\])?: (\S.*)$")
MARK = re.compile(
    r"(?m)^(?:(?:error|warning)(?:\[[\w:]+\])?: .*\n +--> \S| +(?:(?:Compiling|Checking) \S+ v\d|Finished `?\w|Running (?:`|unittests |tests/))|error\[E\d{4}\]: "
    r"|error: could not compile )"
)
FOOTER = re.compile(
    r"could not compile|aborting due to|\d+ targets? failed|(?:test|doctest|bench) failed, to rerun|build failed"
    r"|.* generated \d+ warnings?\b|\d+ warnings? emitted"
)

FAILED = re.compile(r"(?m)^error: (could not compile .*)$")
CRASHED = re.compile(r"(?m)^ +process didn't exit successfully: .*\((signal: .+)\)$")

EVENTS = ("compiler-message", "compiler-artifact", "build-script-executed", "build-finished")


def read(output: ToolOutput) -> Digest | None:
    events, cut = output.rows
    if any(event.get("reason") in EVENTS for event in events):
        messages = [as_object(event.get("message")) for event in events if event.get("reason") == "compiler-message"]
        problems = [_of_message(message) for message in messages if _is_problem(message)]
        return Digest("cargo", tuple(problems), cut=cut)
    text = output.text
    problems = [
        Problem(message, path, parse_number(at), parse_number(column), parse_severity(severity), code)
        for path, at, column, severity, code, message in SHORT.findall(text)
    ]
    marked = MARK.search(text)
    if marked:
        problems += _text(output.lines)
    problems += [Problem(message) for message in CRASHED.findall(text)]
    if not problems and (failed := FAILED.search(text)):
        problems = [Problem(failed.group(1), code=SUMMARY_CODE)]
    return Digest("cargo", tuple(problems)) if problems or marked else None


def _is_problem(message: JsonObject) -> bool:
    return message.get("level") in ("error", "warning", "error: internal compiler error") and not FOOTER.match(
        as_text(message.get("message"))
    )


def _of_message(message: JsonObject) -> Problem:
    spans = as_objects(message.get("spans"))
    span = next((span for span in spans if span.get("is_primary") is True), spans[0] if spans else {})
    return Problem(
        _labelled(as_text(message.get("message")), as_text(span.get("label"))),
        as_text(span.get("file_name")),
        as_int(span.get("line_start")),
        as_int(span.get("column_start")),
        parse_severity(as_text(message.get("level"))),
        as_text(as_object(message.get("code")).get("code")),
    )


def _labelled(message: str, label: str) -> str:
    # "mismatched types" says nothing without what is expected and what was found
    return message if not label or label in message or label.startswith("help: ") else f"{message}: {label}"


def _text(lines: list[str]) -> list[Problem]:
    problems: list[Problem] = []
    for at, line in enumerate(lines):
        head = HEAD.match(line)
        if not head or FOOTER.match(head.group(3)):
            continue
        severity, code, message = head.groups()
        arrow = ARROW.match(lines[at + 1]) if at + 1 < len(lines) else None
        if arrow:
            place = arrow.group(1), parse_number(arrow.group(2)), parse_number(arrow.group(3))
            message = _labelled(message, _label(lines[at + 2 : at + 20]))
            problems.append(Problem(message, *place, parse_severity(severity), code or ""))
        elif severity == "error":
            # a link that failed, a manifest that is wrong
            problems.append(Problem(message, severity=parse_severity(severity), code=code or ""))
    return problems


def _label(frame: list[str]) -> str:
    """What stands beside the marked code of a frame."""
    for line in frame:
        if not line.strip():
            return ""
        if line.lstrip().startswith("|") and "^ " in line:
            return line.rpartition("^ ")[2].strip()
    return ""
