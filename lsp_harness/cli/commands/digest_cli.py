"""`lsp-harness digest`: the problems in the output of a tool, one line each."""

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import AsJson, as_json, positive, say, warn
from lsp_harness.cli.file_place import check_file
from lsp_harness.disk.file_reading import read_problem
from lsp_harness.errors import UsageError
from lsp_harness.text.position import decode
from lsp_harness.verify.digest.digest import READERS_BY_TOOL
from lsp_harness.verify.digest.digest import digest_output as digested

LINES = 50
LARGEST = 64_000_000
"""Bytes of an output."""


def digest(
    file: Annotated[
        Path | None, Parameter(help="A file with the output of a tool. The default is standard input.")
    ] = None,
    *,
    tool: Annotated[
        str, Parameter(help=f"The tool that printed it, if it is not recognized: {', '.join(READERS_BY_TOOL)}.")
    ] = "",
    limit: Annotated[int, Parameter(help="The largest number of lines to show.", validator=positive)] = LINES,
    json: AsJson = False,
) -> int:
    """Shorten the output of tests, linters and compilers to one line per problem.

    The exit status is 1 if there is a problem.
    """
    found = digested(decode(read(file)), tool, os.getcwd())
    if json:
        as_json(found.as_json())
    else:
        for line in found.lines(limit) if found.problems else []:
            say(line)
        say(found.summary)
    return 1 if found.problems else 0


def read(file: Path | None) -> bytes:
    """The output of a tool, from a file or standard input. Raises UsageError."""
    if file is None or str(file) == "-":
        if sys.stdin.isatty():
            warn("paste the output of a tool, then press Ctrl-D; Ctrl-C cancels (usual: pytest | lsp-harness digest)")
        return sys.stdin.buffer.read()
    try:
        # a shell may name a pipe here, so that there is no waiting for a regular file; but some end never
        with file.open("rb") as printed:
            data = printed.read(LARGEST + 1)
    except OSError as error:
        if isinstance(error, FileNotFoundError | IsADirectoryError):
            check_file(file)
        raise UsageError(read_problem(file, error).message) from error
    if len(data) > LARGEST:
        raise UsageError(f"{file} has more than the {LARGEST:,} bytes that are read of an output; give the end of it")
    return data
