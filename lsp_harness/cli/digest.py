"""`lsp-harness digest`: the problems in what a tool has printed, a line each."""

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.say import AsJson, as_json, say
from lsp_harness.errors import UsageError
from lsp_harness.text.position import decode
from lsp_harness.verify.digest.digest import TOOLS
from lsp_harness.verify.digest.digest import digest as digested

LINES = 50
LARGEST = 64_000_000
"""Bytes of an output."""


def digest(
    file: Annotated[Path | None, Parameter(help="What a tool has printed; standard input by default.")] = None,
    *,
    tool: Annotated[str, Parameter(help=f"Which tool, where it is not to be recognised: {', '.join(TOOLS)}.")] = "",
    limit: Annotated[int, Parameter(help="Lines of problems at most.")] = LINES,
    json: AsJson = False,
) -> int:
    """Show the problems in the output of tests, linters and compilers, a line each. Exit status 1 if there are any."""
    if limit < 1:
        raise UsageError(f"--limit is {limit}, but a digest has one line at least")
    found = digested(decode(read(file)), tool, os.getcwd())
    if json:
        as_json(found.as_json())
    else:
        for line in found.lines(limit) if found.problems else []:
            say(line)
        say(found.summary)
    return 1 if found.problems else 0


def read(file: Path | None) -> bytes:
    """What was printed into a file, or comes in. Raises UsageError."""
    if file is None or str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        # a shell may name a pipe here, so that there is no waiting for a regular file; but some end never
        with file.open("rb") as printed:
            data = printed.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise UsageError(f"{file} has more than the {LARGEST:,} bytes that are read of an output; give the end of it")
    return data
