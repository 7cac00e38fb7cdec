"""`lsp-harness context`: what the model would see at a place, or of a task there, where each part comes from, and what it costs."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, cast

from cyclopts import Parameter

from lsp_harness.cli.compose import headless, offset_of, place
from lsp_harness.cli.index import fresh
from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.context.elsewhere import Elsewhere, Here, Known
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.related import Related
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.index.place import place as index_of
from lsp_harness.inference.client import Engine
from lsp_harness.inference.decode.fim import heal
from lsp_harness.inference.request import Continuation, Infill, Sampling, Usage
from lsp_harness.pipeline.instruct import ROOM, Instruct
from lsp_harness.pipeline.question import Questions
from lsp_harness.pipeline.writing import Site
from lsp_harness.store.database import Reader
from lsp_harness.text.position import Span


def context(
    at: str,
    /,
    *,
    task: Annotated[str, Parameter(help="What is to be done to the function there: the prompt of that edit.")] = "",
    explain: Annotated[
        bool, Parameter(negative="", help="Show its parts, with where each is from and what it costs.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Show the prompt of a completion at a place of a file, or of an edit by instruction.

    Parameters
    ----------
    at
        FILE:LINE:COL, counted from 1; with a task FILE:LINE will do.
    """
    file, numbers = place(at, 2)
    if len(numbers) != 2 and not (task and numbers):
        raise UsageError("say where: lsp-harness context FILE:LINE:COL")
    return asyncio.run(_context(file, numbers[0], numbers[1] if numbers[1:] else 1, task, explain=explain, json=json))


async def _context(file: Path, line: int, column: int, task: str, *, explain: bool, json: bool) -> int:
    async with headless(file) as (harness, snapshot):
        if why := harness.kept_from_model(snapshot):
            raise NoAnswer(f"{snapshot.path} is {why}")
        offset = offset_of(snapshot.document, line, column)
        where = index_of(snapshot.root or file.parent)
        if harness.config.index.enabled:
            await fresh(where)
        with closing(Reader(where.database)) as reader:
            known = Here(reader) if harness.config.index.enabled else harness.indexes
            ask = _edit(harness, snapshot, known, offset, task) if task else _hole(harness, snapshot, known, offset)
            prompt = await ask
        if not explain and not json:
            say(prompt.text)
            return 0
        usage = await _evaluated(harness.engine, prompt.request)
        rows = _rows(prompt.fragments, await harness.engine.count(prompt.texts), usage)
    if json:
        as_json({"fragments": rows, "evaluated": usage.evaluated, "reused": usage.reused, "answer": prompt.answer})
    else:
        _show(rows, usage, prompt.answer)
    return 0


@dataclass(frozen=True, slots=True)
class _Prompt:
    """Its parts, the `texts` of them that are evaluated, the `request` that has that done, and the tokens of an `answer` at most."""

    text: str
    fragments: Sequence[Fragment]
    texts: Sequence[str]
    request: Infill | Continuation
    answer: int


async def _hole(harness: Harness, snapshot: Snapshot, known: Known, offset: int) -> _Prompt:
    """Of a completion."""
    questions = Questions(harness.engine, harness.config.completion, elsewhere=Elsewhere(known, harness.engine.count))
    site = Site(snapshot.document, harness.tree(snapshot), offset, snapshot.path)
    question = await questions.about(site, rests=True)
    prompt = question.prompts[0]
    # the word that is being typed is no part of the prompt, the answer begins with it
    texts = [*(fragment.text for fragment in prompt.fragments[:-1]), heal(prompt.prefix.text)[0]]
    [request] = question.read([prompt])
    return _Prompt(prompt.render(), prompt.fragments, texts, request, question.asked().sampling.n_predict)


async def _edit(harness: Harness, snapshot: Snapshot, known: Known, offset: int, task: str) -> _Prompt:
    """Of an edit by instruction."""
    harness.check(snapshot)
    job = replace(harness.job(snapshot, lambda progress: None), related=Related(known, harness.engine.count))
    asked = await Instruct(job, Span(offset, offset), task).asked()
    text = await harness.engine.chat_prompt(asked.messages)
    request = Continuation(text, Sampling(n_predict=0), owner=job.owner)
    texts = [fragment.text for fragment in asked.fragments]
    return _Prompt(text, asked.fragments, texts, request, asked.code.tokens + ROOM)


async def _evaluated(engine: Engine, request: Infill | Continuation) -> Usage:
    """What the engine had to read of the prompt."""
    usage = Usage()
    async with aclosing(cast("Any", engine.stream(request))) as chunks:
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


def _show(rows: list[dict[str, Any]], usage: Usage, answer: int) -> None:
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
    table.add_row("", "", "kept for the answer, at most", str(answer), "")
    console().print(table)
