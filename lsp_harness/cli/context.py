"""`lsp-harness context`: what the model would see at a place, where each part comes from, and what it costs."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli.compose import headless, offset_of, place
from lsp_harness.cli.index import fresh
from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.context.elsewhere import Elsewhere, Here
from lsp_harness.context.fragment import Fragment
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.index.place import place as index_of
from lsp_harness.inference.decode.fim import heal
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
        fragments = question.prompts[0].fragments
        # the word that is being typed is no part of the prompt, the answer begins with it
        texts = [*(fragment.text for fragment in fragments[:-1]), heal(fragments[-1].text)[0]]
        rows = _rows(fragments, await harness.engine.count(texts), usage)
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


def _rows(fragments: Sequence[Fragment], costs: Sequence[int], usage: Usage) -> list[dict[str, Any]]:
    """The parts in prompt order, and what marks where they begin: together all of the prompt, to the token. Those that lie
    within what was reused are."""
    marks = max(0, usage.evaluated + usage.reused - sum(costs))
    parts = [Fragment("", marks, "", "marks where the parts begin")] if marks else []
    parts += [replace(fragment, tokens=cost) for fragment, cost in zip(fragments, costs, strict=True)]
    behind = accumulate(part.tokens for part in parts)
    return [
        {
            "origin": part.origin,
            "reason": part.reason,
            "tokens": part.tokens,
            "reused": end <= usage.reused,
            "text": part.text,
        }
        for part, end in zip(parts, behind, strict=True)
    ]


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
