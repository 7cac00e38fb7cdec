"""Reads one failure of pytest, from the lines below its name: the place and the message."""

import re
from dataclasses import dataclass

from lsp_harness.verify.digest.assertion import summarize_exception
from lsp_harness.verify.digest.problem import parse_number

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
