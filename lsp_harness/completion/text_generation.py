"""The generation of one completion: from a request to the text of the model, to the shown text and other answers."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, cast

from lsp_harness.completion.answer_cache import ModelText
from lsp_harness.completion.completion_request import CompletionRequest
from lsp_harness.completion.rules.ghost_text import Ghost, join_body, split_body, split_next_line
from lsp_harness.completion.rules.shaping import is_settled, shape_ghost
from lsp_harness.config.schema import Completion
from lsp_harness.errors import EngineError
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, Infill, Stop, Usage
from lsp_harness.process.offload import offload
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.syntax.unfinished_code import adds_error
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.text.ulid import make_ulid
from lsp_harness.workspace.cursor import Cursor

LARGE_TREE_NODES = 5_000
"""Number of nodes of a tree above which the syntax check of a text may take tens of milliseconds."""


class _Parts(NamedTuple):
    """A text of the model, cut where it leaves the line of the cursor.

    Attributes:
        ghost: The surroundings of the first part.
        text: The first part.
        body: The body of a block that the first part opens, with its surroundings. None if it opens no block.
        is_on_next_line: Whether the first part begins on the line below the cursor.
    """

    ghost: Ghost
    text: str
    body: tuple[Ghost, str] | None
    is_on_next_line: bool

    @classmethod
    def of(cls, ghost: Ghost, text: str) -> "_Parts":
        next_line = split_next_line(ghost, text)
        first_ghost, remaining = next_line or (ghost, text)
        return cls(first_ghost, remaining, split_body(first_ghost, remaining), next_line is not None)

    @property
    def unfinished_part(self) -> Ghost:
        """The part that the model still writes."""
        ghost, text = self.body or (self.ghost, self.text)
        return ghost.with_text(text)


def _accept_always(text: str) -> bool:
    return True


async def generate(
    engine: Engine,
    request: Infill,
    ghost: Ghost,
    max_lines: int,
    should_continue: Callable[[str], bool] = _accept_always,
    *,
    is_hopeless: Callable[[Usage, Sequence[tuple[int, float]]], bool] | None = None,
    timeout_s: float = math.inf,
) -> tuple[ModelText, Usage]:
    """Return the text of the model, ended as soon as more of it cannot change what is shown.

    Args:
        engine: The engine to ask.
        request: The request.
        ghost: The surroundings of the cursor. Its text is the start of the answer, which the prompt contains already.
        max_lines: The number of lines that may be shown.
        should_continue: Called with all of the text so far; False ends the generation.
        is_hopeless: Called with what the engine reported, and `ModelText.steps` so far; True ends the generation.
        timeout_s: Time limit, counted from the first piece of text.
    """
    text, stop, usage, steps = ghost.text, cast("Stop | None", None), Usage(), list[tuple[int, float]]()
    try:
        async with asyncio.timeout(None) as limit, aclosing(cast("Any", engine.stream(request))) as chunks:
            async for chunk in chunks:
                if limit.when() is None and timeout_s < math.inf:
                    limit.reschedule(asyncio.get_running_loop().time() + timeout_s)
                text += chunk.text
                steps += ((len(text), item.logprob) for item in chunk.logprobs)
                usage, stop = chunk.usage, chunk.stop
                if stop or is_finished(ghost, text, max_lines):
                    break
                if not should_continue(text) or (is_hopeless and is_hopeless(usage, steps)):
                    stop = "cancelled"
                    break
    except TimeoutError:
        stop = "deadline"
    return ModelText(text, stop, tuple(steps)), usage


def is_finished(ghost: Ghost, text: str, max_lines: int) -> bool:
    """Return whether the generation can stop, because more text would not change what is shown."""
    return is_settled(_Parts.of(ghost, text).unfinished_part) or text.count("\n") > max_lines


def make_presentable(
    cursor: Cursor, ghost: Ghost, answer: ModelText, settings: Completion, allowance: Allowance | None = None
) -> str | None:
    """Return the part of a model's text that may be shown: shaped by the rules, and without a new syntax error.

    Args:
        cursor: The place of the cursor in the text.
        ghost: The surroundings of the place.
        answer: The text of the model.
        settings: The settings of completion.
        allowance: The processor time for the syntax check. When it is used up, nothing is shown.
    """
    parts = _Parts.of(ghost, answer.text)
    lines = to_lf(cut_incomplete_line(parts.text, answer.stop, parts.ghost)).split("\n")
    text = "\n".join(lines[: max(1, settings.max_lines)])
    shaped_text = shape_ghost(parts.ghost.with_text(text)).text
    if shaped_text and settings.max_lines > 1 and (body_part := split_body(parts.ghost, text)):
        ghost_of_body, body = body_part
        shaped_text = join_body(shaped_text, shape_ghost(ghost_of_body.with_text(body)).text, parts.ghost)
    if shaped_text and parts.is_on_next_line:
        shaped_text = ghost.newline + shaped_text
    return (
        find_valid_start(cursor.tree, cursor.offset, shaped_text, allowance)
        if shaped_text and cursor.tree
        else shaped_text
    )


async def make_presentable_texts(
    cursor: Cursor, ghost: Ghost, answers: Sequence[ModelText], settings: Completion
) -> list[str | None]:
    """Return for each answer what `presentable` returns. All share one allowance.

    In a large tree this runs in a thread, so that other requests are answered meanwhile.
    """

    def present_all() -> list[str | None]:
        # created here, because it counts the time of the thread that uses it
        allowance = Allowance(BUDGET.gate_s)
        return [make_presentable(cursor, ghost, answer, settings, allowance) for answer in answers]

    nodes = cursor.tree.root.descendant_count if cursor.tree else 0
    return await offload(nodes, present_all, limit=LARGE_TREE_NODES - 1)


def cut_incomplete_line(text: str, stop: Stop | None, ghost: Ghost) -> str:
    """Return the complete lines of a text that a limit cut off, or the start of the only line."""
    if stop not in ("deadline", "limit"):
        return text
    lines, _, _ = text.rpartition("\n")
    if lines.strip():
        return lines
    # a line above another must be complete; at the end of a line, the start of a text is still useful
    return "" if ghost.mode == "line-above" else text


def find_valid_start(tree: SyntaxTree, offset: int, text: str, allowance: Allowance | None = None) -> str | None:
    """Return as many leading lines of `text` as add no syntax error at `offset`.

    Returns:
        None if even the first line adds an error, or if the check takes longer than the allowance.
    """
    lines, allowance = text.splitlines(keepends=True), allowance or Allowance(BUDGET.gate_s)
    for size in range(len(lines), 0, -1):
        lines_text = "".join(lines[:size])
        lines_text = lines_text if size == len(lines) else lines_text.rstrip()
        if not lines_text.strip():
            continue
        new_bytes = encode(lines_text)
        try:
            tree_after = tree.apply_edit(Edit(offset, offset, new_bytes), allowance)
            if tree_after is None or not adds_error(tree, tree_after, (offset, offset + len(new_bytes)), allowance):
                return lines_text
        except ParseBudgetExceeded:
            return None
    return None


TEMPERATURE = 0.8
"""At this temperature, four samples of a small model are rarely all the same."""


async def generate_alternatives(
    engine: Engine, request: Infill, ghost: Ghost, max_lines: int, count: int, limit_s: float = math.inf
) -> list[ModelText]:
    """Return `count` texts for the hole of a request, in the order in which they are finished.

    All are sampled over one evaluated prompt. A text that is finished is cancelled in the engine; the others continue.
    Those that are not finished after `limit_s` seconds are left out.
    """
    request_id = make_ulid()
    sampling = replace(request.sampling, n=count, temperature=TEMPERATURE, seed=1)
    request = replace(request, sampling=sampling, owner=replace(request.owner, id=request_id))
    texts, finished_texts, running = [""] * count, list[ModelText](), set(range(count))
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(limit_s if limit_s < math.inf else None),
            aclosing(cast("Any", engine.stream(request))) as chunks,
        ):
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                index = chunk.index
                if index not in running:
                    continue
                texts[index] += chunk.text
                if chunk.stop or is_finished(ghost, texts[index], max_lines):
                    running.discard(index)
                    finished_texts.append(ModelText(texts[index], chunk.stop))
                    if running and not chunk.stop:
                        await engine.cancel(request_id, index)
                if not running:
                    break
    return finished_texts


async def generate_other_texts(
    engine: Engine, request: CompletionRequest, infill: Infill, limit_s: float = math.inf
) -> list[tuple[str, ModelText]]:
    """Return what may be shown of other answers to a request, each with its answer.

    Args:
        engine: The engine.
        request: The request.
        infill: The form in which the engine gets it.
        limit_s: Seconds after which unfinished answers are left out.
    """
    settings, count = request.settings, request.settings.alternatives - 1
    answers = await generate_alternatives(engine, infill, request.ghost, settings.max_lines, count, limit_s)
    texts = await make_presentable_texts(request.cursor, request.ghost, answers, settings)
    return [(text, answer) for text, answer in zip(texts, answers, strict=True) if text]


async def find_other_texts(
    engine: Engine, request: CompletionRequest, start_s: float, *, automatic: bool
) -> list[tuple[str, ModelText]]:
    """Return what may be shown of other answers to a request, if the likeliest one failed the type gate.

    Args:
        engine: The engine.
        request: The request.
        start_s: When it came, as `perf_counter` says.
        automatic: Whether the editor asked without a command of the user. Then the answers and their checks must be
            ready before the user's patience ends.
    """
    settings = request.settings
    checks_ms = settings.alternatives * settings.type_gate_ms
    limit_s = start_s + (settings.patience_ms - checks_ms) / 1000 - perf_counter() if automatic else math.inf
    if settings.alternatives <= 1 or limit_s <= 0:
        return []
    infill = request.urgent_infill("quick" if automatic else "complete")
    try:
        return await generate_other_texts(engine, request, infill, limit_s)
    except EngineError:
        # the start of the first answer may still be shown
        return []
