"""One failure of pytest: where it was raised and what it says, off the lines below its name."""

import re
from dataclasses import dataclass

from lsp_harness.verify.digest.assertion import summarize_exception
from lsp_harness.verify.digest.problem import parse_number

ERROR = re.compile(r"E(?:   +(.*))?$")
CODE_PLACE = re.compile(r"((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d+): ?(.*)$")
FRAME = re.compile(r' +File "([^"]+)", line (\d+)')
CAPTURED = re.compile(r"-+ Captured .+ -+$")
FOREIGN = re.compile(r"site-packages|dist-packages|[\\/]lib[\\/]python3|^<")

KEPT = 100
"""Lines of one exception that are looked at."""


@dataclass(frozen=True, slots=True)
class ExceptionReport:
    """`path` and `line` of the innermost place that is not a library's, and the message, of one line or several."""

    message: str = ""
    path: str = ""
    line: int = 0


def read_exception(lines: list[str]) -> ExceptionReport:
    """What one block says; what the test itself has printed is not looked at."""
    lines = lines[: next((at for at, line in enumerate(lines) if CAPTURED.match(line)), len(lines))]
    path, line = _place(lines)
    return ExceptionReport(_doctest(lines) or summarize_exception(_errors(lines)) or _last(lines), path, line)


def _errors(lines: list[str]) -> list[str]:
    """The last run of lines marked E: before it are the exceptions that led to this one."""
    last: list[str] = []
    going_on = False
    for line in lines:
        found = ERROR.match(line)
        if found:
            last = last if going_on else []
            last.append(found.group(1) or "")
        going_on = bool(found)
    return last[:KEPT]


def _last(lines: list[str]) -> str:
    """The last line that is not indented, which ends a plain traceback."""
    for line in reversed(lines):
        if line.strip() and not line[0].isspace() and not CODE_PLACE.match(line):
            return summarize_exception([line])
    return ""


def _doctest(lines: list[str]) -> str:
    if "Expected:" not in lines or "Got:" not in lines:
        return ""
    return f"expected {_indented(lines, 'Expected:')}, got {_indented(lines, 'Got:')}"


def _indented(lines: list[str], head: str) -> str:
    taken: list[str] = []
    for line in lines[lines.index(head) + 1 :]:
        if not line.startswith("    "):
            break
        taken.append(line.strip())
    return " ".join(taken)


def _place(lines: list[str]) -> tuple[str, int]:
    found = [match for line in lines if (match := CODE_PLACE.match(line) or FRAME.match(line))]
    own = [match for match in found if not FOREIGN.search(match.group(1))]
    if not found:
        return "", 0
    match = own[-1] if own else found[0]
    return match.group(1), parse_number(match.group(2))
