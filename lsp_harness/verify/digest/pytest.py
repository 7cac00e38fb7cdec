"""Output of pytest: the failures with their tracebacks, and the short summary. Either may be missing.

Of each failure this says the place and, in one sentence, the exception; for a failed comparison, the expected and the
actual value.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import COLLECTION_CODE, ToolProblem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

ASSERTION = re.compile(r"(?:AssertionError: )?assert (.+)$")
VALUE_SOURCE = re.compile(r"\+ +where (.+?) = ")
STRING_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
DIFFERENCE_DETAIL = re.compile(r"(?:At index \d+ diff: |Left contains |Right contains |Extra items|Omitting ).*")


def summarize_exception(lines: list[str]) -> str:
    """Return the sentence for an exception.

    `assert None == 3` becomes "AssertionError: expected 3, got None". As in the diffs of pytest, the right side is the
    expected value, unless only the right side was computed.

    Args:
        lines: The lines of the exception as pytest prints them, without their `E`.
    """
    lines = [line.strip() for line in lines]
    lines = [line for line in lines if line]
    if not lines:
        return ""
    assertion = ASSERTION.match(lines[0])
    if not assertion or lines[0].endswith("..."):
        # below the message of an assertion, pytest prints its own analysis of the expression
        end = next((index for index, line in enumerate(lines) if index and line.startswith("assert ")), len(lines))
        return "\n".join(lines[:end])
    sources = [line.removeprefix("+").strip() for line in lines[1:] if VALUE_SOURCE.match(line)]
    details = [line for line in lines[1:] if DIFFERENCE_DETAIL.match(line)][:1]
    return ", ".join([f"AssertionError: {_describe_comparison(assertion.group(1), lines[1:])}", *sources[:2], *details])


def _describe_comparison(expression: str, lines_below: list[str]) -> str:
    """Return the expected and the actual value, or the whole expression if it is no comparison of two values."""
    without_strings = STRING_LITERAL.sub(lambda match: "_" * len(match.group()), expression)
    left, operator, _ = without_strings.partition(" == ")
    if not operator or without_strings.count(" == ") > 1 or not _is_whole_operand(left):
        return f"assert {expression}"
    got, expected = expression[: len(left)], expression[len(left) + len(operator) :]
    computed = [match.group(1) for line in lines_below if (match := VALUE_SOURCE.match(line))]
    if expected in computed and got not in computed:
        got, expected = expected, got
    return f"expected {expected}, got {got}"


def _is_whole_operand(text: str) -> bool:
    # `not (a == b)` and `f(a == b)` do not compare two values
    return not text.startswith("not ") and all(
        text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}")
    )


ERROR_LINE = re.compile(r"E(?:   +(.*))?$")
CODE_PLACE = re.compile(r"((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d+): ?(.*)$")
TRACEBACK_FRAME = re.compile(r' +File "([^"]+)", line (\d+)')
CAPTURED_OUTPUT = re.compile(r"-+ Captured .+ -+$")
LIBRARY_PATH = re.compile(r"site-packages|dist-packages|[\\/]lib[\\/]python3|^<")

MAX_EXCEPTION_LINES = 100
"""Most lines of an exception to read."""


@dataclass(frozen=True, slots=True)
class ExceptionReport:
    """An exception in the output of pytest, with its message and its place.

    Attributes:
        message: The message, on one line or several.
        path: The file of the innermost frame outside of libraries; empty if unknown.
        line: The line of that frame, counted from 1; 0 if unknown.
    """

    message: str = ""
    path: str = ""
    line: int = 0


def read_exception(lines: list[str]) -> ExceptionReport:
    """Return the exception in the lines of one failure. The output that the test printed is ignored."""
    end = next((index for index, line in enumerate(lines) if CAPTURED_OUTPUT.match(line)), len(lines))
    lines = lines[:end]
    path, line = _find_place(lines)
    return ExceptionReport(
        _read_doctest(lines) or summarize_exception(_read_error_lines(lines)) or _read_last_line(lines), path, line
    )


def _read_error_lines(lines: list[str]) -> list[str]:
    """Return the last block of lines marked with E. Blocks before it belong to the causes of the exception."""
    block: list[str] = []
    is_in_block = False
    for line in lines:
        match = ERROR_LINE.match(line)
        if match:
            block = block if is_in_block else []
            block.append(match.group(1) or "")
        is_in_block = bool(match)
    return block[:MAX_EXCEPTION_LINES]


def _read_last_line(lines: list[str]) -> str:
    """Return the last line without indentation, which is the exception of a plain traceback."""
    for line in reversed(lines):
        if line.strip() and not line[0].isspace() and not CODE_PLACE.match(line):
            return summarize_exception([line])
    return ""


def _read_doctest(lines: list[str]) -> str:
    """Return the expected and the actual output of a doctest, or an empty text if this is none."""
    if "Expected:" not in lines or "Got:" not in lines:
        return ""
    return f"expected {_read_indented(lines, 'Expected:')}, got {_read_indented(lines, 'Got:')}"


def _read_indented(lines: list[str], head: str) -> str:
    block: list[str] = []
    for line in lines[lines.index(head) + 1 :]:
        if not line.startswith("    "):
            break
        block.append(line.strip())
    return " ".join(block)


def _find_place(lines: list[str]) -> tuple[str, int]:
    frames = [match for line in lines if (match := CODE_PLACE.match(line) or TRACEBACK_FRAME.match(line))]
    own_frames = [match for match in frames if not LIBRARY_PATH.search(match.group(1))]
    if not frames:
        return "", 0
    match = own_frames[-1] if own_frames else frames[0]
    return match.group(1), parse_number(match.group(2))


COUNTS = re.compile(r"(?:=+ )?(\d+ [\w ]+?(?:, \d+ [\w ]+?)*|no tests ran) in \d[\d.]*s\b.*$")
COLLECTED = re.compile(r"(?:=+ )?(?:\d+(?:/\d+)? tests? collected|no tests (?:collected|ran))\b.* in \d[\d.]*s\b.*$")
KNOWN_COUNT = re.compile(r"\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun)\b")
SUGAR_RESULTS = re.compile(r"Results \(\d[\d.]*s.*\):$")
"""The head of the last lines of the plug-ins sugar and pretty. A line for each count follows."""
SUGAR_COUNT = re.compile(r" +(\d+) ([a-z]\w*)$")
SUGAR_TEST = re.compile(r" +- (\S.*?\.py):(\d+) (\S.*)$")
PYTEST_LINE = re.compile(
    r"(?m)^(?:=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+"
    r"|Test session starts \(platform: .*)$"
)
HEADER = re.compile(r"(?m)^(?:=+ test session starts =+|Test session starts \(platform: .*)$")
PROGRESS = re.compile(r"(?:\S.*?\.(?:py|rst|txt|md) )?([.FEsxXR]+) *(?:\[ *(\d+)%\])?$")
ALL_PROGRESS = re.compile(r"(?m)^[.FEsxXR]+ +\[100%\]$")
"""The only line of a run with `-qq` in which no test fails."""
INTERRUPTED = re.compile(r"!+ (?:Interrupted: |stopping after |xdist\.dsession\.Interrupted: )?.* !+$")
SECTION_HEAD = re.compile(r"=+ (.+?) =+$")
SUMMARY_LINE = re.compile(r"(?:FAILED|ERROR|SUBFAIL(?:ED)?(?:[\[(].*?[\])])*) (\S.*)$")
INTERNAL_ERROR = re.compile(r"INTERNALERROR> (\S.*)$")
STOPPED = re.compile(r"!+ ((?:KeyboardInterrupt|_pytest\.outcomes\.Exit\b|SystemExit\b).*?) !+$")
TOO_LITTLE_COVERAGE = re.compile(r"(?:FAIL )(Required test coverage of .*)$")
USAGE_ERROR = re.compile(
    r"ERROR: (?!failed to (?:solve|build)\b|Service '|Job failed|InvocationError|process \"|build step \d)(\S.*)$"
)
"""An error in the command line of pytest, and not the last line of the program that started it."""
CONFTEST_ERROR = re.compile(r"ImportError while loading conftest '(.+)'\.?$")
OUTCOME = r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
VERBOSE_LINE = re.compile(rf"(\S.*?::\S.*?) {OUTCOME}(?: \(.*\)| \[.*\.\.\.)?(?: +\[ *\d+%\])?$")
XDIST_LINE = re.compile(rf"\[gw\d+\](?: \[ *\d+%\])? {OUTCOME} (\S.*?::\S.*?) *$")
SETUP_HEAD = re.compile(r"ERROR at (setup|teardown) of (.+)$")
SUBTEST = re.compile(r"([^\[(]+?) [\[(].*[\])]$")
COLLECTION_HEAD = "ERROR collecting "


@dataclass(slots=True)
class Parts:
    """The parts of one output of pytest: failures, the short summary, and the list of tests.

    Attributes:
        blocks: The failures: pairs of the name and the lines below it.
        summary: The lines of the short summary, without their first word.
        outcomes: The outcomes of tests by their ids, from the list that `-v` prints.
        listed: The failing tests that sugar lists below its counts.
        usage: Errors in the command line of pytest, and why it stopped or did not accept the result.
        internal: The exception of pytest itself or of a plug-in, if one ended the run.
        places: The files and lines of exceptions by their message, from `--tb=line`.
        counts: The numbers of the last lines of all runs.
        progress: The numbers of dots and letters, for a run whose last line has no numbers.
        captured_counts: The numbers of the last such line below the output of a test.
        has_counts: Whether there is a last line with numbers.
        is_at_end: Whether the dots reach 100 %, or the run says that it stops.
    """

    blocks: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    summary: list[str] = field(default_factory=list[str])
    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    listed: list[ToolProblem] = field(default_factory=list[ToolProblem])
    usage: list[str] = field(default_factory=list[str])
    internal: str = ""
    places: defaultdict[str, deque[tuple[str, int]]] = field(default_factory=lambda: defaultdict(deque))
    counts: Counter[str] = field(default_factory=Counter[str])
    progress: Counter[str] = field(default_factory=Counter[str])
    captured_counts: Counter[str] = field(default_factory=Counter[str])
    has_counts: bool = False
    is_at_end: bool = False

    def ids_with(self, *outcomes: str) -> frozenset[str]:
        """Return the ids of the tests with one of some outcomes."""
        return frozenset(test for test, outcome in self.outcomes.items() if outcome in outcomes)


PROGRESS_WORDS = {".": "passed", "F": "failed", "E": "error", "s": "skipped", "x": "xfailed", "X": "xpassed"}
NO_TESTS = "no tests ran"


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output of pytest."""
    text = output.text
    is_pytest = PYTEST_LINE.search(text) or ALL_PROGRESS.search(text)
    if not is_pytest and not any(_is_last_line(line) for line in output.lines):
        return None
    parts = _split(output.lines)
    problems = _read_problems(parts)
    counts = parts.counts if parts.has_counts else parts.progress
    failed, errors = counts["failed"], counts["error"]
    if not counts:
        errors = sum(problem.code == COLLECTION_CODE for problem in problems)
        failed = len(problems) - errors
    passed = counts["passed"] + counts["xpassed"]
    skipped = counts["skipped"] + counts["xfailed"]
    # with -qq there is neither a header nor a last line
    is_complete = parts.has_counts or (not HEADER.search(text) and (parts.is_at_end or bool(parts.summary)))
    passed_ids = parts.ids_with("PASSED", "XPASS")
    is_listed = bool(passed_ids) and len(passed_ids) == passed
    return Digest(
        "pytest",
        tuple(problems),
        passed,
        failed + errors,
        skipped,
        is_truncated=not is_complete,
        note="" if passed or failed or errors or skipped or not is_complete else NO_TESTS,
        passed_tests=passed_ids if is_listed else None,
        skipped_tests=parts.ids_with("SKIPPED", "XFAIL"),
        errors=errors,
    )


def _is_last_line(line: str) -> bool:
    if " in " in line and (match := COUNTS.match(line)):
        return match.group(1) == NO_TESTS or bool(KNOWN_COUNT.search(match.group(1)))
    return bool(COLLECTED.match(line) or SUGAR_RESULTS.match(line))


def _add_counts(counts: Counter[str], text: str) -> None:
    for count, word in re.findall(r"(\d+) (\w+)", text):
        counts[word.rstrip("s") if word.startswith("error") else word] += parse_number(count)


def _split(lines: list[str]) -> Parts:
    parts = Parts()
    section = ""
    block: list[str] | None = None
    is_captured = is_in_results = False
    for line in lines:
        if is_in_results and (match := SUGAR_COUNT.match(line)):
            _add_counts(parts.counts, f"{match.group(1)} {match.group(2)}")
        elif is_in_results and (match := SUGAR_TEST.match(line)):
            node = f"{match.group(1)}::{_to_node_name(match.group(3))}"
            parts.listed.append(ToolProblem("failed", match.group(1), parse_number(match.group(2)), test=node))
        elif _is_last_line(line) and is_captured and (match := COUNTS.match(line)):
            # a test may run pytest itself; without a summary, the real last line stands behind its output too
            parts.captured_counts.clear()
            _add_counts(parts.captured_counts, match.group(1))
        elif _is_last_line(line) and not is_captured:
            is_in_results, section, block = bool(SUGAR_RESULTS.match(line)), "", None
            parts.has_counts = True
            if match := COUNTS.match(line):
                _add_counts(parts.counts, match.group(1))
        elif (match := SECTION_HEAD.match(line)) and line.startswith("="):
            section, block, is_captured = match.group(1), None, False
        elif section in ("FAILURES", "ERRORS") or line.startswith("――"):
            if head := _read_head(line):
                block, is_captured = [], False
                parts.blocks.append((head, block))
            elif block is not None:
                is_captured = is_captured or bool(CAPTURED_OUTPUT.match(line))
                block.append(line)
            elif match := CODE_PLACE.match(line):
                # `--tb=line` prints no names of tests
                parts.places[match.group(3)].append((match.group(1), parse_number(match.group(2))))
        elif section == "short test summary info":
            if match := SUMMARY_LINE.match(line):
                parts.summary.append(match.group(1))
            elif INTERRUPTED.match(line):
                parts.is_at_end = True
        else:
            is_in_results = is_in_results and bool(line.strip()) and line[0].isspace()
            block = _read_other_line(parts, line, block)
    if not parts.has_counts and parts.captured_counts:
        parts.counts, parts.has_counts = parts.captured_counts, True
    return parts


def _read_other_line(parts: Parts, line: str, block: list[str] | None) -> list[str] | None:
    """Read a line outside of the sections. Return the block to which the next lines belong, or None."""
    if match := CONFTEST_ERROR.match(line):
        block = []
        parts.blocks.append((COLLECTION_HEAD + match.group(1), block))
    elif match := USAGE_ERROR.match(line) or TOO_LITTLE_COVERAGE.match(line) or STOPPED.match(line):
        parts.usage.append(match.group(1))
    elif match := INTERNAL_ERROR.match(line):
        # the last of these lines is the exception
        parts.internal = match.group(1)
    elif match := XDIST_LINE.match(line):
        parts.outcomes[match.group(2)] = match.group(1)
    elif match := VERBOSE_LINE.match(line):
        parts.outcomes[match.group(1)] = match.group(2)
    elif (match := PROGRESS.match(line)) and line:
        for letter in match.group(1):
            if letter in PROGRESS_WORDS:
                parts.progress[PROGRESS_WORDS[letter]] += 1
        parts.is_at_end = parts.is_at_end or match.group(2) == "100"
    elif INTERRUPTED.match(line):
        parts.is_at_end = True
    elif block is not None:
        block.append(line)
    return block


def _read_head(line: str) -> str:
    """Return the name in `____ test_area ____`, or an empty text for the line between two frames."""
    name = line.strip("_―")
    is_head = bool(line) and line[0] == line[-1] and line[0] in "_―" and name[:1] == name[-1:] == " "
    return name.strip() if is_head and name.strip("_ ") else ""


def _split_summary(text: str, names: Collection[str], ids: Collection[str]) -> tuple[str, str]:
    """Return the id of a test and the message in a line of the summary.

    The parameters in the id may contain the dash that separates the two, and brackets. So the names in the rest of the
    output decide; without them, the first dash behind as many closing as opening brackets.

    Args:
        text: The line, without its first word.
        names: The names of the failures, as `_block_name` returns them.
        ids: The ids that the list of tests names.
    """
    path, separator, rest = text.partition("::")
    ends = [match.start() for match in re.finditer(" - ", rest)]
    if not separator or not ends:
        node, _, message = text.partition(" - ")
        return (node if not separator else text).strip(), message if not separator else ""
    for end in [len(rest), *reversed(ends)]:
        if _to_block_name(rest[:end]) in names or f"{path}::{rest[:end]}" in ids:
            return f"{path}::{rest[:end]}", rest[end + 3 :]
    closed = [end for end in ends if "[" not in rest[:end] or rest[:end].endswith("]")]
    balanced = [end for end in closed if rest[:end].count("[") == rest[:end].count("]")]
    end = next(iter(balanced or closed or ends))
    return f"{path}::{rest[:end]}", rest[end + 3 :]


def _to_block_name(name: str) -> str:
    """Return the name of a failure above its traceback for the part of an id behind the file."""
    names, bracket, parameters = name.partition("[")
    return names.replace("::", ".") + bracket + parameters


def _to_node_name(name: str) -> str:
    """Return the part of an id behind the file for the name of a failure above its traceback."""
    names, bracket, parameters = name.partition("[")
    return names.replace(".", "::") + bracket + parameters


def _read_problems(parts: Parts) -> list[ToolProblem]:
    exceptions = defaultdict[str, deque[ExceptionReport]](deque)
    for head, block in parts.blocks:
        exceptions[_block_name(head)].append(read_exception(block))
    names = frozenset(exceptions)
    messages = sorted(parts.places)
    problems: list[ToolProblem] = [ToolProblem(message, code="usage") for message in parts.usage]
    problems += [ToolProblem(parts.internal, code="internal")] if parts.internal else []
    failing = parts.ids_with("FAILED", "ERROR")
    for line in parts.summary:
        node, message = _split_summary(line, names, failing)
        path, _, name = node.partition("::")
        exception = _take_exception(exceptions[_to_block_name(name) or path], path)
        if not exception.path and (full := _find_full_message(message, messages)):
            place = parts.places[full].popleft() if parts.places[full] else ("", 0)
            exception = replace(exception, message=summarize_exception([full]), path=place[0], line=place[1])
        problems.append(create_problem(node, exception, message))
    known = {test.partition("::")[2]: test for test in failing}
    for name, matching in exceptions.items():
        node = name if "/" in name or name.endswith(".py") else _to_node_name(name)
        problems += [create_problem(known.get(node, node), exception) for exception in matching]
    if not any(problem.failed_id for problem in problems):
        problems += [create_problem(node, ExceptionReport()) for node in sorted(failing)] or parts.listed
    return problems


def _take_exception(exceptions: deque[ExceptionReport], path: str) -> ExceptionReport:
    """Take the first exception that was raised in a file, or else the first one. Several files may have one name."""
    if not exceptions:
        return ExceptionReport()
    index = next((i for i, exception in enumerate(exceptions) if path and exception.path.endswith(path)), 0)
    exception = exceptions[index]
    del exceptions[index]
    return exception


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
    name = match.group(2) if match else head.removeprefix("[doctest] ")
    part = SUBTEST.match(name)
    return part.group(1) if part else name


def create_problem(node: str, exception: ExceptionReport, message: str = "") -> ToolProblem:
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
        return ToolProblem(message, file, exception.line if is_in_file else 0, code=COLLECTION_CODE)
    return ToolProblem(message, exception.path or file, exception.line, test=node)
