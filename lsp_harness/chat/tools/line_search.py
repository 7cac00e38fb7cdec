"""The process that finds lines for the tool `grep`. This file is its program.

It reads a JSON object from standard input, with the pattern, the files, and the texts that count in place of some of
them, and writes one with the matches. It imports nothing of lsp-harness, so that it starts at once and runs without any
package.
"""

import json
import os
import re
import stat
import sys
from time import monotonic
from typing import Any

MAX_FILE_BYTES = 2_000_000
FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"))
"""Flags by which a pipe cannot block, and a link is not followed, where the system has them. This program imports none
of our modules."""
MAX_TEXT_CHARS = 2_000
"""Characters of a line that are searched and returned. Longer lines belong to generated files."""


def search(task: dict[str, Any]) -> dict[str, Any]:
    """Return the matches as (number of the file, line from 1, text), and remarks about the search."""
    remarks: list[str] = []
    try:
        expression = re.compile(task["pattern"])
    except (re.error, OverflowError, RecursionError) as error:
        remarks.append(f"the pattern is no regular expression ({error}), so it was searched as plain text")
        expression = re.compile(re.escape(task["pattern"]))
    end = monotonic() + task["seconds"]
    matches: list[tuple[int, int, str]] = []
    for number, path in enumerate(task["files"]):
        if monotonic() > end:
            remarks.append(f"only {number} of {len(task['files'])} files were searched in time; use a narrower glob")
            break
        lines = _split_lines(task["texts"][path]) if path in task["texts"] else _read_lines(path)
        for line_number, line in enumerate(lines, 1):
            text = line[:MAX_TEXT_CHARS]
            if expression.search(text):
                if len(matches) == task["max_matches"]:
                    return {"matches": matches, "remarks": remarks, "is_cut": True}
                matches.append((number, line_number, text))
    return {"matches": matches, "remarks": remarks, "is_cut": False}


def _read_lines(path: str) -> list[str]:
    """Return the lines of a file; none if it is binary, too large, or cannot be read."""
    try:
        # a pipe with this name would block
        descriptor = os.open(path, FLAGS)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return []
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError:
        return []
    if len(data) > MAX_FILE_BYTES or b"\0" in data[:8192]:
        return []
    return _split_lines(data.decode("utf-8", "replace"))


def _split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


if __name__ == "__main__":
    json.dump(search(json.load(sys.stdin)), sys.stdout)
