"""pytest's text: the failures with their tracebacks, the short summary, and each from the other where one is missing."""

import re
from bisect import bisect_left
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace

from lsp_harness.verify.digest.assertion import summarize_exception
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.pytest_block import CODE_PLACE, ExceptionReport, read_exception
from lsp_harness.verify.digest.tool_output import ToolOutput

COUNTS = re.compile(
    r"(?m)^(?:=+ )?((?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests passed)"
    r"(?:, )?)+|no tests ran) in \d[\d.]*s\b.*$"
)
MARK = re.compile(r"(?m)^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$")
SECTION = re.compile(r"=+ (.+?) =+$")
SUMMARY = re.compile(r"(FAILED|ERROR) (\S.*)$")
USAGE = re.compile(r"ERROR: (\S.*)$")
CONFTEST = re.compile(r"ImportError while loading conftest '(.+)'\.?$")
VERBOSE = re.compile(r"([^\s:]+::\S.*?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?$")
AT = re.compile(r"ERROR at (setup|teardown) of (.+)$")
COLLECTING = "ERROR collecting "


@dataclass(slots=True)
class Parts:
    """What the lines of one output fall into."""

    blocks: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    summary: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    verbose: list[str] = field(default_factory=list[str])
    usage: list[str] = field(default_factory=list[str])
    places: defaultdict[str, deque[tuple[str, int]]] = field(default_factory=lambda: defaultdict(deque))


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of pytest."""
    counts = COUNTS.search(output.text)
    if not counts and not MARK.search(output.text):
        return None
    parts = _parts(output.lines)
    problems = _problems(parts)
    tally = _tally(counts.group(1) if counts else "")
    failed = tally["failed"] + tally["error"] if counts else len(problems)
    passed = tally["passed"] + tally["xpassed"] if counts else 0
    skipped = tally["skipped"] + tally["xfailed"] if counts else 0
    return Digest("pytest", tuple(problems), passed, failed, skipped, is_truncated=not counts)


def _tally(text: str) -> defaultdict[str, int]:
    counts = defaultdict[str, int](int)
    for count, word in re.findall(r"(\d+) (\w+)", text):
        counts[word.rstrip("s") if word.startswith("error") else word] += parse_number(count)
    return counts


def _parts(lines: list[str]) -> Parts:
    parts = Parts()
    section = ""
    block: list[str] | None = None
    for line in lines:
        if (found := SECTION.match(line)) and line.startswith("="):
            section, block = found.group(1), None
        elif section in ("FAILURES", "ERRORS"):
            if head := _head(line):
                block = []
                parts.blocks.append((head, block))
            elif block is not None:
                block.append(line)
            elif found := CODE_PLACE.match(line):
                # --tb=line has no heads
                parts.places[found.group(3)].append((found.group(1), parse_number(found.group(2))))
        elif section == "short test summary info":
            if found := SUMMARY.match(line):
                parts.summary.append(_node(found.group(2)))
        elif found := CONFTEST.match(line):
            block = []
            parts.blocks.append((COLLECTING + found.group(1), block))
        elif found := USAGE.match(line):
            parts.usage.append(found.group(1))
        elif found := VERBOSE.match(line):
            parts.verbose.append(found.group(1))
        elif block is not None:
            block.append(line)
    return parts


def _head(line: str) -> str:
    """The name in `____ test_area ____`; there is none in the line between two frames."""
    name = line.strip("_")
    framed = line[:1] == line[-1:] == "_" and name[:1] == name[-1:] == " "
    return name.strip() if framed and name.strip("_ ") else ""


def _node(text: str) -> tuple[str, str]:
    """The id of a test, whose parameters may hold a dash, and what is said of it."""
    node, _, message = text.partition(" - ")
    if "[" in node and "]" not in node:
        head, closed, message = text.partition("] - ")
        node = head + closed.removesuffix(" - ")
    return node.strip(), message


def _problems(parts: Parts) -> list[Problem]:
    told = defaultdict[str, deque[ExceptionReport]](deque)
    for head, block in parts.blocks:
        told[_name(head)].append(read_exception(block))
    messages = sorted(parts.places)
    problems: list[Problem] = [Problem(message, code="usage") for message in parts.usage]
    for node, message in parts.summary:
        path, _, name = node.partition("::")
        waiting = told.get(name.replace("::", ".") or path)
        known = waiting.popleft() if waiting else ExceptionReport()
        if not known.path and (full := _full(message, messages)):
            place = parts.places[full].popleft() if parts.places[full] else ("", 0)
            known = replace(known, message=summarize_exception([full]), path=place[0], line=place[1])
        problems.append(create_problem(node, known, message))
    left = [(name, known) for name, waiting in told.items() for known in waiting]
    problems += [create_problem(name.replace(".", "::") if "/" not in name else name, known) for name, known in left]
    if not problems:
        problems = [create_problem(node, ExceptionReport()) for node in dict.fromkeys(parts.verbose)]
    return problems


def _full(message: str, messages: list[str]) -> str:
    """The message, of those known, that the summary has cut off to fit its line."""
    start = message.removesuffix("...")
    at = bisect_left(messages, start)
    return messages[at] if start and at < len(messages) and messages[at].startswith(start) else ""


def _name(head: str) -> str:
    """What a block is about: `TestArea.test_area[half]`, or a file that could not be read."""
    if head.startswith(COLLECTING):
        return head.removeprefix(COLLECTING)
    at = AT.match(head)
    return at.group(2) if at else head.removeprefix("[doctest] ")


def create_problem(node: str, known: ExceptionReport, message: str = "") -> Problem:
    """`node` is a test's id, or the path of a file that has none because it cannot be imported."""
    path, separator, _ = node.partition("::")
    file = path if separator or path.endswith(".py") else ""
    message = known.message or summarize_exception([message]) or ("cannot be imported" if file == node else "failed")
    if file == node:
        same = known.path.endswith(file)
        return Problem(message, file, known.line if same else 0, code="collection")
    return Problem(message, known.path or file, known.line, test=node)
