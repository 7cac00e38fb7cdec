"""`lsp-harness complete`: the completion at a place in a file."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from lsp_harness.cli.composition import headless
from lsp_harness.cli.console import AsJson, as_json, say
from lsp_harness.cli.file_place import offset_of, place
from lsp_harness.errors import UsageError


def complete(at: str, /, *, json: AsJson = False) -> int:
    """Show the completion at a place in a file.

    Parameters
    ----------
    at
        FILE:LINE:COL. Lines and columns count from 1; columns are characters.
    """
    file, numbers = place(at, 2)
    if len(numbers) != 2:
        raise UsageError(f"say where in the file: lsp-harness complete {file}:LINE:COL")
    return asyncio.run(_complete(file, *numbers, json=json))


async def _complete(file: Path, line: int, column: int, *, json: bool) -> int:
    async with headless(file) as (harness, snapshot):
        began = perf_counter()
        where = offset_of(snapshot.document, line, column)
        found = await harness.completions.complete(snapshot, where, automatic=False, single=True)
        ms = round((perf_counter() - began) * 1000)
    if json:
        as_json([asdict(s) for s in found])
    elif found:
        say(found[0].text)
        stats = found[0].stats
        say(
            f"  ({ms} ms, {stats['evaluated']} prompt tokens evaluated, {stats['reused']} reused, {stats['generated']} generated)"
        )
    else:
        say("no suggestion here")
    return 0
