"""`lsp-harness complete`: the completion at a place in a file."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from lsp_harness.cli.composition import open_headless
from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.file_place import byte_offset, parse_place
from lsp_harness.errors import UsageError


def complete(at: str, /, *, json: JsonOption = False) -> int:
    """Show the completion at a place in a file, or why there is none.

    Parameters
    ----------
    at
        FILE:LINE:COL. Lines and columns count from 1; columns are characters.
    """
    file, numbers = parse_place(at, 2)
    if len(numbers) != 2:
        raise UsageError(f"the place in {file} has no line and column; write: lsp-harness complete {file}:LINE:COL")
    return asyncio.run(_complete(file, *numbers, json=json))


async def _complete(file: Path, line: int, column: int, *, json: bool) -> int:
    async with open_headless(file) as (harness, snapshot):
        start = perf_counter()
        offset = byte_offset(snapshot.document, line, column)
        suggestions = await harness.completions.complete(snapshot, offset, automatic=False, single=True)
        ms = round((perf_counter() - start) * 1000)
        reason = harness.completions.last_reason
    if json:
        print_json([asdict(suggestion) for suggestion in suggestions])
    elif suggestions:
        say(suggestions[0].text)
        stats = suggestions[0].stats
        say(
            f"  ({ms} ms, {stats['evaluated']} prompt tokens evaluated, {stats['reused']} reused, {stats['generated']} "
            "generated)"
        )
    else:
        say(f"no suggestion here: {reason} ({ms} ms)" if reason else f"no suggestion here ({ms} ms)")
    return 0
