"""`lsp-harness context`: the prompt at a place in a file, where each part of it comes from, and what it costs."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.commands.locate_cli import locate_task
from lsp_harness.cli.composition import headless
from lsp_harness.cli.console import AsJson, as_json, console, say, warn
from lsp_harness.cli.file_place import offset_of, place
from lsp_harness.cli.fresh_index import fresh
from lsp_harness.errors import UsageError
from lsp_harness.harness.prompt_preview import Part, Prompt
from lsp_harness.index.index_place import prepare_place as index_of
from lsp_harness.index.index_query import DirectIndexQuery
from lsp_harness.inference.request import Usage
from lsp_harness.store.database import Reader
from lsp_harness.text.position import Span


def context(
    at: str = "",
    /,
    *,
    task: Annotated[
        str,
        Parameter(
            help="Show the prompt of an edit: what to do with the function at that place, in words. Without a place, the function is searched for."
        ),
    ] = "",
    explain: Annotated[
        bool,
        Parameter(negative="", help="Show the parts of the prompt, where each comes from and how many tokens it has."),
    ] = False,
    json: AsJson = False,
) -> int:
    """Show the prompt that the model would get at a place in a file.

    Parameters
    ----------
    at
        FILE:LINE:COL, counted from 1. With --task, FILE:LINE is enough, and no place at all means that it is searched for.
    """
    if task and not at:
        return asyncio.run(_found(task, explain=explain, json=json))
    if not at:
        raise UsageError('say where: lsp-harness context FILE:LINE:COL, or describe a task: --task "WORDS"')
    file, numbers = place(at, 2)
    if len(numbers) != 2 and not (task and numbers):
        raise UsageError(f"say where in the file: lsp-harness context {file}:LINE:COL")
    begin = numbers[0], numbers[1] if numbers[1:] else 1
    return asyncio.run(_context(file, begin, task, explain=explain, json=json))


async def _found(task: str, *, explain: bool, json: bool) -> int:
    """Of the place that the task is about; which place that is, is printed on standard error."""
    best = (await locate_task(task, Path(), explain=explain)).best
    warn(f"the prompt is that of {best.place} ({best.symbol or 'text'})")
    return await _context(Path(best.path), (best.first, 1), task, last=best.last, explain=explain, json=json)


async def _context(file: Path, begin: tuple[int, int], task: str, *, last: int = 0, explain: bool, json: bool) -> int:
    """Of a place, or the lines from there to the `last`."""
    async with headless(file) as (harness, snapshot):
        offset = offset_of(snapshot.document, *begin)
        end = snapshot.document.line_span(last - 1)[1] if last else offset
        where = index_of(snapshot.root or file.parent)
        if harness.config.index.enabled:
            where = await fresh(where)
        with closing(Reader(where.database)) as reader:
            known = DirectIndexQuery(reader) if harness.config.index.enabled else None
            preview = await harness.preview()
            if task:
                prompt = await preview.edit(snapshot, Span(offset, end), task, known)
            else:
                prompt = await preview.completion(snapshot, offset, known)
        shown = explain or json
        parts, usage = await preview.evaluate(prompt) if shown else ([], Usage())
        if preview.estimate_reason:
            warn(f"token counts are estimates: {preview.estimate_reason}")
        if not shown:
            say(prompt.text)
            return 0
    if json:
        rows = [asdict(part) for part in parts]
        spent = {"evaluated": usage.evaluated, "reused": usage.reused, "answer": prompt.answer}
        room = {"context": prompt.context, "over": prompt.excess_tokens(parts)}
        as_json({"fragments": rows, **spent, **room, "likelier": prompt.likelier})
    else:
        _show(prompt, parts, usage)
    return 0


def _show(prompt: Prompt, parts: Sequence[Part], usage: Usage) -> None:
    from rich.table import Table

    table = Table(box=None)
    for name in ("fragment", "origin", "reason", "tokens", ""):
        table.add_column(name, justify="right" if name == "tokens" else "left", overflow="fold")
    for part in parts:
        first = part.label.replace("[", "\\[")
        table.add_row(first, part.origin, part.reason, str(part.tokens), "reused" if part.reused else "evaluated")
    for what, tokens, how in prompt.totals(parts, usage):
        table.add_row("", "", what, str(tokens), how)
    console().print(table)
