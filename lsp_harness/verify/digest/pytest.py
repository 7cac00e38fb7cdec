"""Output of pytest: the failures with their tracebacks, and the short summary. Either may be missing."""

import re
from bisect import bisect_left
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace

from lsp_harness.verify.digest.assertion import summarize_exception
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import COLLECTION_CODE, Problem, parse_number
from lsp_harness.verify.digest.pytest_block import CODE_PLACE, ExceptionReport, read_exception
from lsp_harness.verify.digest.tool_output import ToolOutput

COUNTS = re.compile(
    r"(?m)^(?:=+ )?((?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests passed)"
    r"(?:, )?)+|no tests ran) in \d[\d.]*s\b.*$"
)
PYTEST_LINE = re.compile(r"(?m)^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$")
SECTION_HEAD = re.compile(r"=+ (.+?) =+$")
SUMMARY_LINE = re.compile(r"(FAILED|ERROR) (\S.*)$")
USAGE_ERROR = re.compile(r"ERROR: (\S.*)$")
CONFTEST_ERROR = re.compile(r"ImportError while loading conftest '(.+)'\.?$")
VERBOSE_LINE = re.compile(r"([^\s:]+::\S.*?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?$")
SETUP_HEAD = re.compile(r"ERROR at (setup|teardown) of (.+)$")
COLLECTION_HEAD = "ERROR collecting "


@dataclass(slots=True)
class Parts:
    """The parts of one output of pytest: failures, the short summary, and the list of tests.

    Attributes:
        blocks: The failures: pairs of the name and the lines below it.
        summary: The lines of the short summary: pairs of the test id and the message.
        verbose: The ids of tests that failed, from the list that `-v` prints.
        usage: Errors in the command line of pytest.
        places: The files and lines of exceptions by their message, from `--tb=line`.
    """

    blocks: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    summary: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    verbose: list[str] = field(default_factory=list[str])
    usage: list[str] = field(default_factory=list[str])
    places: defaultdict[str, deque[tuple[str, int]]] = field(default_factory=lambda: defaultdict(deque))


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of pytest."""
    counts = COUNTS.search(output.text)
    if not counts and not PYTEST_LINE.search(output.text):
        return None
    parts = _split(output.lines)
    problems = _read_problems(parts)
    counts_by_result = _read_counts(counts.group(1) if counts else "")
    failed = counts_by_result["failed"] + counts_by_result["error"] if counts else len(problems)
    passed = counts_by_result["passed"] + counts_by_result["xpassed"] if counts else 0
    skipped = counts_by_result["skipped"] + counts_by_result["xfailed"] if counts else 0
    return Digest("pytest", tuple(problems), passed, failed, skipped, is_truncated=not counts)


def _read_counts(text: str) -> defaultdict[str, int]:
    counts = defaultdict[str, int](int)
    for count, word in re.findall(r"(\d+) (\w+)", text):
        counts[word.rstrip("s") if word.startswith("error") else word] += parse_number(count)
    return counts


def _split(lines: list[str]) -> Parts:
    parts = Parts()
    section = ""
    block: list[str] | None = None
    for line in lines:
        if (match := SECTION_HEAD.match(line)) and line.startswith("="):
            section, block = match.group(1), None
        elif section in ("FAILURES", "ERRORS"):
            if head := _read_head(line):
                block = []
                parts.blocks.append((head, block))
            elif block is not None:
                block.append(line)
            elif match := CODE_PLACE.match(line):
                # `--tb=line` prints no names of tests
                parts.places[match.group(3)].append((match.group(1), parse_number(match.group(2))))
        elif section == "short test summary info":
            if match := SUMMARY_LINE.match(line):
                parts.summary.append(_split_summary(match.group(2)))
        elif match := CONFTEST_ERROR.match(line):
            block = []
            parts.blocks.append((COLLECTION_HEAD + match.group(1), block))
        elif match := USAGE_ERROR.match(line):
            parts.usage.append(match.group(1))
        elif match := VERBOSE_LINE.match(line):
            parts.verbose.append(match.group(1))
        elif block is not None:
            block.append(line)
    return parts


def _read_head(line: str) -> str:
    """Return the name in `____ test_area ____`, or an empty text for the line between two frames."""
    name = line.strip("_")
    is_head = line[:1] == line[-1:] == "_" and name[:1] == name[-1:] == " "
    return name.strip() if is_head and name.strip("_ ") else ""


def _split_summary(text: str) -> tuple[str, str]:
    """Return the id of a test and the message. The parameters in the id may contain the dash that separates the two."""
    node, _, message = text.partition(" - ")
    if "[" in node and "]" not in node:
        head, closed, message = text.partition("] - ")
        node = head + closed.removesuffix(" - ")
    return node.strip(), message


def _read_problems(parts: Parts) -> list[Problem]:
    exceptions = defaultdict[str, deque[ExceptionReport]](deque)
    for head, block in parts.blocks:
        exceptions[_block_name(head)].append(read_exception(block))
    messages = sorted(parts.places)
    problems: list[Problem] = [Problem(message, code="usage") for message in parts.usage]
    for node, message in parts.summary:
        path, _, name = node.partition("::")
        matching = exceptions.get(name.replace("::", ".") or path)
        exception = matching.popleft() if matching else ExceptionReport()
        if not exception.path and (full := _find_full_message(message, messages)):
            place = parts.places[full].popleft() if parts.places[full] else ("", 0)
            exception = replace(exception, message=summarize_exception([full]), path=place[0], line=place[1])
        problems.append(create_problem(node, exception, message))
    for name, matching in exceptions.items():
        node = name.replace(".", "::") if "/" not in name else name
        problems += [create_problem(node, exception) for exception in matching]
    if not problems:
        problems = [create_problem(node, ExceptionReport()) for node in dict.fromkeys(parts.verbose)]
    return problems


def _find_full_message(message: str, messages: list[str]) -> str:
    """Return the message that the summary cut off to fit its line, or an empty text. `messages` are sorted."""
    start = message.removesuffix("...")
    index = bisect_left(messages, start)
    return messages[index] if start and index < len(messages) and messages[index].startswith(start) else ""


def _block_name(head: str) -> str:
    """Return the test of a block, such as `TestArea.test_area[half]`, or the file that could not be imported."""
    if head.startswith(COLLECTION_HEAD):
        return head.removeprefix(COLLECTION_HEAD)
    match = SETUP_HEAD.match(head)
    return match.group(2) if match else head.removeprefix("[doctest] ")


def create_problem(node: str, exception: ExceptionReport, message: str = "") -> Problem:
    """Return the problem of a failing test or of a file that cannot be imported.

    Args:
        node: The id of the test, or the path of the file.
        exception: The exception, as far as the output shows it.
        message: The message of the summary, for a failure without an exception.
    """
    path, separator, _ = node.partition("::")
    file = path if separator or path.endswith(".py") else ""
    message = (
        exception.message or summarize_exception([message]) or ("cannot be imported" if file == node else "failed")
    )
    if file == node:
        is_in_file = exception.path.endswith(file)
        return Problem(message, file, exception.line if is_in_file else 0, code=COLLECTION_CODE)
    return Problem(message, exception.path or file, exception.line, test=node)
