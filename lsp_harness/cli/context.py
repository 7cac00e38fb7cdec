"""`lsp-harness context`: what the model would see at a place, where each part comes from, and what it costs."""

import asyncio
from contextlib import aclosing, closing
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli.compose import headless, offset_of, place
from lsp_harness.cli.index import fresh
from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.context.elsewhere import Elsewhere, Here
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.index.place import place as index_of
from lsp_harness.inference.request import Usage
from lsp_harness.pipeline.question import Question, Questions
from lsp_harness.pipeline.writing import Site
from lsp_harness.store.database import Reader


def context(
    at: str,
    /,
    *,
    explain: Annotated[
        bool, Parameter(negative="", help="Show its parts, with where each is from and what it costs.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Show the prompt of a completion at a place of a file.

    Parameters
    ----------
    at
        FILE:LINE:COL, counted from 1.
    """
    file, numbers = place(at, 2)
    if len(numbers) != 2:
        raise UsageError("say where: lsp-harness context FILE:LINE:COL")
    return asyncio.run(_context(file, *numbers, explain=explain, json=json))


async def _context(file: Path, line: int, column: int, *, explain: bool, json: bool) -> int:
    async with headless(file) as (harness, snapshot):
        if why := harness.kept_from_model(snapshot):
            raise NoAnswer(f"{snapshot.path} is {why}")
        offset = offset_of(snapshot.document, line, column)
        where = index_of(snapshot.root or file.parent)
        if harness.config.index.enabled:
            await fresh(where)
        with closing(Reader(where.database)) as reader:
            elsewhere = Elsewhere(Here(reader), harness.engine.count) if harness.config.index.enabled else None
            questions = Questions(harness.engine, harness.config.completion, elsewhere=elsewhere)
            site = Site(snapshot.document, harness.tree(snapshot), offset, snapshot.path)
            question = await questions.about(site, rests=True)
        if not explain and not json:
            say(question.prompts[0].render())
            return 0
        usage = await _evaluated(harness.engine, question)
    rows = _rows(question, usage)
    if json:
        as_json({"fragments": rows, "evaluated": usage.evaluated, "reused": usage.reused})
    else:
        _show(rows, usage)
    return 0


async def _evaluated(engine: Any, question: Question) -> Usage:
    """What the engine had to read of the prompt."""
    usage = Usage()
    [request] = question.read(question.prompts[:1])
    async with aclosing(engine.stream(request)) as chunks:
        async for chunk in chunks:
            usage = chunk.usage
    return usage


def _rows(question: Question, usage: Usage) -> list[dict[str, Any]]:
    """The parts in prompt order. Those that lie within what was reused are."""
    rows: list[dict[str, Any]] = []
    behind = 0
    for fragment in question.prompts[0].fragments:
        behind += fragment.tokens
        rows.append(
            {
                "origin": fragment.origin,
                "reason": fragment.reason,
                "tokens": fragment.tokens,
                "reused": behind <= usage.reused,
                "text": fragment.text,
            }
        )
    return rows


def _show(rows: list[dict[str, Any]], usage: Usage) -> None:
    from rich.table import Table

    table = Table(box=None)
    for name in ("fragment", "origin", "reason", "tokens", ""):
        table.add_column(name, justify="right" if name == "tokens" else "left", overflow="fold")
    for row in rows:
        first = next((line.strip() for line in row["text"].split("\n") if line.strip()), "")
        short = (first if len(first) <= 40 else first[:39] + "…").replace("[", "\\[")
        table.add_row(
            short, row["origin"], row["reason"], str(row["tokens"]), "reused" if row["reused"] else "evaluated"
        )
    total = sum(row["tokens"] for row in rows)
    table.add_row("", "", "all of it", str(total), f"{usage.evaluated:,} evaluated, {usage.reused:,} reused")
    console().print(table)
