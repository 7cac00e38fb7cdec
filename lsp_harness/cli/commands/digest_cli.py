"""`lsp-harness digest`: one line for each problem in the output of a tool."""

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, require_positive, say, warn
from lsp_harness.cli.file_place import check_file
from lsp_harness.disk.file_reading import read_problem
from lsp_harness.errors import UsageError
from lsp_harness.text.position import decode
from lsp_harness.verify.digest.digest import READERS_BY_TOOL, digest_output

DEFAULT_LINES = 50
NOT_UNDERSTOOD = 3
"""The exit status if something was printed and it is not known whether there are problems."""
MAX_OUTPUT_BYTES = 64_000_000
"""Size above which an output is not read."""


def digest(
    file: Annotated[
        Path | None,
        Parameter(help="A file with the output of a tool. The default is standard input, also written as -."),
    ] = None,
    *,
    tool: Annotated[
        str,
        Parameter(
            help="The tool that printed the output. By default, lsp-harness recognizes it. The tools are: "
            f"{', '.join(READERS_BY_TOOL)}."
        ),
    ] = "",
    limit: Annotated[
        int, Parameter(help="The largest number of lines to show.", validator=require_positive)
    ] = DEFAULT_LINES,
    json: JsonOption = False,
) -> int:
    """Shorten the output of tests, linters and compilers to one line per problem.

    The exit status is 0 if the output is understood and has no problem, 1 if there is a problem, 2 if the file cannot
    be read, and 3 if the output is not understood or is cut off before its result. Then its last lines are shown.
    """
    result = digest_output(decode(read_output(file)), tool, os.getcwd())
    if json:
        print_json(result.as_json())
    else:
        for line in result.lines(limit) if result.problems else []:
            say(line)
        say(result.summary)
        for line in result.last_lines:
            say(f"  {line}")
    if result.problems:
        return 1
    return 0 if result.is_conclusive else NOT_UNDERSTOOD


def read_output(file: Path | None) -> bytes:
    """Return the output of a tool, from a file or from standard input. Raise UsageError if the file cannot be read."""
    if file is None or str(file) == "-":
        if sys.stdin.isatty():
            warn("paste the output of a tool, then press Ctrl-D; Ctrl-C cancels (usual: pytest | lsp-harness digest)")
        return sys.stdin.buffer.read()
    try:
        # the file may be a pipe of the shell, and some pipes never end
        with file.open("rb") as stream:
            data = stream.read(MAX_OUTPUT_BYTES + 1)
    except OSError as error:
        if isinstance(error, FileNotFoundError | IsADirectoryError):
            check_file(file)
        raise UsageError(read_problem(file, error).message) from error
    if len(data) > MAX_OUTPUT_BYTES:
        raise UsageError(
            f"{file} is larger than {MAX_OUTPUT_BYTES:,} bytes, which is the limit for an output; pass only the end of "
            "it"
        )
    return data
