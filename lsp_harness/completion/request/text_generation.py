"""From a cursor to the model's text, and from the model's text to what may be shown: the steps of one completion."""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, cast

from lsp_harness.completion.request.answer_cache import Written
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.next_line import joined, on_next_line, with_body
from lsp_harness.completion.rules.shaping import enough, shape
from lsp_harness.config.schema import Completion
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Infill, Stop, Usage
from lsp_harness.process.offload import offload
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.syntax.unfinished_code import adds_error
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.workspace.cursor import Cursor

LARGE_TREE = 5_000
"""Nodes of a tree in which it may take tens of milliseconds to judge a text."""


class _Reading(NamedTuple):
    """A text and the surroundings it belongs to, and where it goes on to a block's body that and its surroundings."""

    ghost: Ghost
    text: str
    body: tuple[Ghost, str] | None
    broken: bool

    @classmethod
    def of(cls, ghost: Ghost, text: str) -> "_Reading":
        below = on_next_line(ghost, text)
        here, rest = below or (ghost, text)
        return cls(here, rest, with_body(here, rest), below is not None)

    @property
    def last(self) -> Ghost:
        """The part that is still being written."""
        here, text = self.body or (self.ghost, self.text)
        return here.having(text)


def _always(text: str) -> bool:
    return True


async def write(
    engine: Engine,
    request: Infill,
    ghost: Ghost,
    max_lines: int,
    goes_on: Callable[[str], bool] = _always,
    *,
    patience: float = math.inf,
) -> tuple[Written, Usage]:
    """The model's text, ended as soon as more of it cannot change what would be shown, or when `goes_on`, which is told
    of all of it so far, says no, or `patience`, in seconds from the first of it, is over."""
    text, stop, usage, steps = "", cast("Stop | None", None), Usage(), list[tuple[int, float]]()
    try:
        async with asyncio.timeout(None) as limit, aclosing(cast("Any", engine.stream(request))) as chunks:
            async for chunk in chunks:
                if limit.when() is None and patience < math.inf:
                    limit.reschedule(asyncio.get_running_loop().time() + patience)
                text += chunk.text
                steps += ((len(text), item.logprob) for item in chunk.logprobs)
                usage, stop = chunk.usage, chunk.stop
                if stop or finished(ghost, text, max_lines):
                    break
                if not goes_on(text):
                    stop = "cancelled"
                    break
    except TimeoutError:
        stop = "deadline"
    return Written(text, stop, tuple(steps)), usage


def finished(ghost: Ghost, text: str, max_lines: int) -> bool:
    """Whether more of a text cannot change what would be shown."""
    return enough(_Reading.of(ghost, text).last) or text.count("\n") > max_lines


def presentable(
    cursor: Cursor, ghost: Ghost, written: Written, settings: Completion, allowance: Allowance | None = None
) -> str | None:
    """What of a model's text may be shown at a place: shaped by the rules, and without a new syntax error, as far as the allowance
    lets that be found out."""
    read = _Reading.of(ghost, written.text)
    lines = to_lf(whole(read.text, written.stop, read.ghost)).split("\n")
    text = "\n".join(lines[: max(1, settings.max_lines)])
    shaped = shape(read.ghost.having(text)).text
    if shaped and settings.max_lines > 1 and (opened := with_body(read.ghost, text)):
        here, body = opened
        shaped = joined(shaped, shape(here.having(body)).text, read.ghost)
    if shaped and read.broken:
        shaped = ghost.newline + shaped
    return passing(cursor.tree, cursor.offset, shaped, allowance) if shaped and cursor.tree else shaped


async def presented(cursor: Cursor, ghost: Ghost, texts: Sequence[Written], settings: Completion) -> list[str | None]:
    """What of each text may be shown, as `presentable` says; they share one allowance. In a large tree that is found out in a thread, so
    that other requests are answered meanwhile."""

    def all_presentable() -> list[str | None]:
        # made here: it counts the time of the thread that uses it
        allowance = Allowance(BUDGET.gate_s)
        return [presentable(cursor, ghost, each, settings, allowance) for each in texts]

    nodes = cursor.tree.root.descendant_count if cursor.tree else 0
    return await offload(nodes, all_presentable, limit=LARGE_TREE - 1)


def whole(text: str, stop: Stop | None, ghost: Ghost) -> str:
    """What may be shown of a text that was cut off by a limit: whole lines, or the beginning of a lone one."""
    if stop not in ("deadline", "limit"):
        return text
    lines, _, _ = text.rpartition("\n")
    if lines.strip():
        return lines
    # a line put above another must be complete; at the end of a line a beginning is still of use
    return "" if ghost.mode == "line-above" else text


def passing(tree: SyntaxTree, offset: int, text: str, allowance: Allowance | None = None) -> str | None:
    """The longest run of leading lines that adds no syntax error; None if not even the first does, and where it takes longer than the
    allowance to say so."""
    lines, allowance = text.splitlines(keepends=True), allowance or Allowance(BUDGET.gate_s)
    for size in range(len(lines), 0, -1):
        part = "".join(lines[:size])
        part = part if size == len(lines) else part.rstrip()
        if not part.strip():
            continue
        new = encode(part)
        try:
            after = tree.apply_edit(Edit(offset, offset, new), allowance)
            if after is None or not adds_error(tree, after, (offset, offset + len(new)), allowance):
                return part
        except ParseBudgetExceeded:
            return None
    return None
