"""`lsp-harness context`: the prompt at a place in a file, with the source and the number of tokens of each part."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.composition import open_headless
from lsp_harness.cli.console import JsonOption, TerminalNotices, console, print_json, say, warn
from lsp_harness.cli.file_place import byte_offset, parse_place
from lsp_harness.cli.project_folder import load_project_at
from lsp_harness.errors import UsageError
from lsp_harness.harness.prompt_preview import Part, PreviewedPrompt, PromptPreviews
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.inference.request import Usage
from lsp_harness.project.project_search import locate_in_project
from lsp_harness.text.position import Span


@dataclass(frozen=True, slots=True)
class PromptPlace:
    """A place in a file, or the lines from there to `last_line`. All numbers count from 1; 0 means no last line."""

    file: Path
    line: int
    column: int
    last_line: int = 0


def context(
    at: str = "",
    /,
    *,
    task: Annotated[
        str,
        Parameter(help="Show the prompt of an edit instead of a completion. The value says in words what to change."),
    ] = "",
    explain: Annotated[
        bool,
        Parameter(negative="", help="Show the parts of the prompt, where each comes from and how many tokens it has."),
    ] = False,
    json: JsonOption = False,
) -> int:
    """Show the prompt that the model would get at a place in a file.

    Parameters
    ----------
    at
        FILE:LINE:COL. Lines and columns count from 1. With --task, FILE:LINE is enough; without a place, lsp-harness
        searches for the code.
    """
    if task and not at:
        return asyncio.run(_show_located_prompt(task, explain=explain, json=json))
    if not at:
        raise UsageError('the place is missing; write: lsp-harness context FILE:LINE:COL, or --task "WORDS" for a task')
    file, numbers = parse_place(at, 2)
    if len(numbers) != 2 and not (task and numbers):
        raise UsageError(f"the place in {file} has no line and column; write: lsp-harness context {file}:LINE:COL")
    start = PromptPlace(file, numbers[0], numbers[1] if numbers[1:] else 1)
    return asyncio.run(_show_prompt(start, task, explain=explain, json=json))


async def _show_located_prompt(task: str, *, explain: bool, json: bool) -> int:
    """Show the prompt for the lines that a task is about, and say on standard error which lines these are."""
    best = (await locate_in_project(load_project_at(Path()), task, make_engine, explains=explain)).best
    warn(f"the prompt is that of {best.place} ({best.symbol or 'text'})")
    return await _show_prompt(PromptPlace(Path(best.path), best.first, 1, best.last), task, explain=explain, json=json)


async def _show_prompt(target: PromptPlace, task: str, *, explain: bool, json: bool) -> int:
    async with open_headless(target.file, creates_index=True) as (harness, snapshot):
        start = byte_offset(snapshot.document, target.line, target.column)
        end = snapshot.document.line_span(target.last_line - 1)[1] if target.last_line else start
        preview = await harness.preview()
        if task:
            prompt = await preview.edit(snapshot, Span(start, end), task)
        else:
            prompt = await preview.completion(snapshot, start)
        has_parts = explain or json
        parts, usage = await _evaluate(preview, prompt) if has_parts else ([], Usage())
        if preview.estimate_reason:
            warn(f"token counts are estimates: {preview.estimate_reason}")
    if not has_parts:
        say(prompt.text)
        return 0
    if json:
        fragments = [asdict(part) for part in parts]
        cost = {"evaluated": usage.evaluated, "reused": usage.reused, "answer": prompt.answer}
        room = {"context": prompt.context, "over": prompt.excess_tokens(parts)}
        print_json({"fragments": fragments, **cost, **room, "likelier": prompt.likelier})
    else:
        _print_parts(prompt, parts, usage)
    return 0


async def _evaluate(preview: PromptPreviews, prompt: PreviewedPrompt) -> tuple[list[Part], Usage]:
    """Return the parts of a prompt with their tokens. The model reads the whole prompt for that, which takes long."""
    with TerminalNotices().progress("the model reads the prompt, to count its tokens"):
        return await preview.evaluate(prompt)


def _print_parts(prompt: PreviewedPrompt, parts: Sequence[Part], usage: Usage) -> None:
    from rich.table import Table

    table = Table(box=None)
    for name in ("fragment", "origin", "reason", "tokens", ""):
        table.add_column(name, justify="right" if name == "tokens" else "left", overflow="fold")
    for part in parts:
        first = part.label.replace("[", "\\[")
        table.add_row(first, part.origin, part.reason, str(part.tokens), "reused" if part.reused else "evaluated")
    for label, tokens, note in prompt.totals(parts, usage):
        table.add_row("", "", label, str(tokens), note)
    console().print(table)
