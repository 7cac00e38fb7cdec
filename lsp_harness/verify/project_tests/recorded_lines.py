"""The lines of proposed Python files that tests have run."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from lsp_harness.verify.change import Change
from lsp_harness.verify.project_tests import line_evidence

STARTUP = "import line_evidence\n\nline_evidence.install()\nline_evidence.import_next_customization()\n"
"""The program that each Python process of a run begins with."""
PYTHON_PATH = "PYTHONPATH"

Lines = Mapping[Path, frozenset[int]]
"""File → some of its lines, counted from 1."""


def list_changed_lines(change: Change) -> frozenset[int]:
    """Return the lines of a proposed Python text whose run shows that the change ran.

    These are the new lines. Where lines are only removed, these are their neighbours. Comments and docstrings are left
    out, because nothing runs them.
    """
    data = change.after.data
    new = change.new_lines or _list_neighbours(change)
    try:
        return frozenset(line_evidence.list_lines(data, new))
    except (SyntaxError, ValueError, RecursionError):
        # the Python of the project may know more than this one
        lines = data.splitlines()
        texts = {line: lines[line - 1].strip() for line in new if line <= len(lines)}
        return frozenset(line for line, text in texts.items() if text and not text.startswith(b"#"))


def _list_neighbours(change: Change) -> frozenset[int]:
    """Return the lines before and after the places at which a change removes text."""
    lines: set[int] = set()
    shift = 0
    for edit in change.edits:
        line = change.after.data.count(b"\n", 0, edit.start + shift) + 1
        lines |= {max(1, line - 1), line}
        shift += len(edit.new) - (edit.end - edit.start)
    return frozenset(lines)


def write_startup(folder: Path) -> Path:
    """Write the program with which Python processes begin into a new folder, and return this folder.

    Args:
        folder: A folder of the run.

    Raises:
        OSError: A file cannot be written.
    """
    startup = folder / "startup"
    startup.mkdir(exist_ok=True)
    (startup / "sitecustomize.py").write_text(STARTUP)
    shutil.copyfile(line_evidence.__file__, startup / "line_evidence.py")
    return startup


def startup_environment(startup: Path, settings: Path | None = None) -> dict[str, str]:
    """Return the variables of the environment with which Python processes begin with the program of `write_startup`.

    Args:
        startup: The folder of the program.
        settings: The file that says what to record, or None if another process names it.
    """
    paths = [str(startup), *filter(None, [os.environ.get(PYTHON_PATH)])]
    named = {line_evidence.VARIABLE: str(settings)} if settings else {}
    return {PYTHON_PATH: os.pathsep.join(paths), **named}


def write_request(file: Path, lines: Lines, out: Path) -> None:
    """Write the file that says what to record. The paths are those that the processes see, with links resolved."""
    file.write_text(json.dumps({"files": name_lines(lines), "out": str(out)}))


def name_lines(lines: Lines) -> dict[str, list[int]]:
    """Return lines as a JSON object, in an order that `read_lines` knows."""
    return {str(path): sorted(numbers) for path, numbers in lines.items()}


def read_lines(text: str, lines: Lines) -> dict[Path, frozenset[int]]:
    """Return the lines of each file that ran.

    Args:
        text: What the processes recorded.
        lines: The lines that they were to record.
    """
    files = list(lines)
    found: dict[Path, set[int]] = {}
    for row in text.splitlines():
        number, _, line = row.partition(":")
        if number.isdecimal() and line.isdecimal() and int(number) < len(files):
            found.setdefault(files[int(number)], set()).add(int(line))
    return {file: frozenset(numbers & lines[file]) for file, numbers in found.items()}
