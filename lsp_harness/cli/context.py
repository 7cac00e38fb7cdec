"""`lsp-harness context`: what the model would see at a place, or of a task there, where each part comes from, and what it costs."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.compose import headless, offset_of, place
from lsp_harness.cli.indexed import fresh
from lsp_harness.cli.locate import sought
from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.context.elsewhere import Here
from lsp_harness.errors import UsageError
from lsp_harness.harness import seen
from lsp_harness.index.place import place as index_of
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
            help="What is to be done to the function there: the prompt of that edit. Without a place, it is found."
        ),
    ] = "",
    explain: Annotated[
        bool, Parameter(negative="", help="Show its parts, with where each is from and what it costs.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Show the prompt of a completion at a place of a file, or of an edit by instruction.

    Parameters
    ----------
    at
        FILE:LINE:COL, counted from 1; with a task FILE:LINE will do, or nothing.
    """
    if task and not at:
        return asyncio.run(_found(task, explain=explain, json=json))
    if not at:
        raise UsageError('say where: lsp-harness context FILE:LINE:COL, or what is to be done: --task "…"')
    file, numbers = place(at, 2)
    if len(numbers) != 2 and not (task and numbers):
        raise UsageError("say where: lsp-harness context FILE:LINE:COL")
    begin = numbers[0], numbers[1] if numbers[1:] else 1
    return asyncio.run(_context(file, begin, task, explain=explain, json=json))


async def _found(task: str, *, explain: bool, json: bool) -> int:
    """Of the place that the task is about; which that is is said beside."""
    best = (await sought(task, Path(), explain=explain)).best
    sys.stderr.write(f"{best.place}: {best.symbol or 'text'}\n")
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
            known = Here(reader) if harness.config.index.enabled else None
            engine = await harness.engines.estimating(harness.config)
            if task:
                prompt = await seen.edit(harness, engine, snapshot, Span(offset, end), task, known)
            else:
                prompt = await seen.completion(harness, engine, snapshot, offset, known)
        shown = explain or json
        parts, usage = await seen.evaluated(engine, prompt) if shown else ([], Usage())
        if engine.why:
            sys.stderr.write(f"token counts are estimates: {engine.why}\n")
        if not shown:
            say(prompt.text)
            return 0
    if json:
        rows = [asdict(part) for part in parts]
        spent = {"evaluated": usage.evaluated, "reused": usage.reused, "answer": prompt.answer}
        room = {"context": prompt.context, "over": prompt.over(parts)}
        as_json({"fragments": rows, **spent, **room, "likelier": prompt.likelier})
    else:
        _show(prompt, parts, usage)
    return 0


def _show(prompt: seen.Prompt, parts: Sequence[seen.Part], usage: Usage) -> None:
    from rich.table import Table

    table = Table(box=None)
    for name in ("fragment", "origin", "reason", "tokens", ""):
        table.add_column(name, justify="right" if name == "tokens" else "left", overflow="fold")
    for part in parts:
        first = part.first.replace("[", "\\[")
        table.add_row(first, part.origin, part.reason, str(part.tokens), "reused" if part.reused else "evaluated")
    for what, tokens, how in seen.sums(prompt, parts, usage):
        table.add_row("", "", what, str(tokens), how)
    console().print(table)
