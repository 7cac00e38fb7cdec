"""The generation of one completion: from a request to the text of the model, and from that text to what is shown."""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, cast

from lsp_harness.completion.request.answer_cache import ModelText
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

LARGE_TREE_NODES = 5_000
"""In a tree with more nodes, the syntax check of a text may take tens of milliseconds."""


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
        below = on_next_line(ghost, text)
        first, rest = below or (ghost, text)
        return cls(first, rest, with_body(first, rest), below is not None)

    @property
    def last(self) -> Ghost:
        """The part that the model still writes."""
        ghost, text = self.body or (self.ghost, self.text)
        return ghost.having(text)


def _always(text: str) -> bool:
    return True


async def generate(
    engine: Engine,
    request: Infill,
    ghost: Ghost,
    max_lines: int,
    should_continue: Callable[[str], bool] = _always,
    *,
    timeout_s: float = math.inf,
) -> tuple[ModelText, Usage]:
    """Return the text of the model, ended as soon as more of it cannot change what is shown.

    Args:
        engine: The engine to ask.
        request: The request.
        ghost: The surroundings of the cursor.
        max_lines: The number of lines that may be shown.
        should_continue: Called with all of the text so far; False ends the generation.
        timeout_s: Time limit, counted from the first piece of text.
    """
    text, stop, usage, steps = "", cast("Stop | None", None), Usage(), list[tuple[int, float]]()
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
                if not should_continue(text):
                    stop = "cancelled"
                    break
    except TimeoutError:
        stop = "deadline"
    return ModelText(text, stop, tuple(steps)), usage


def is_finished(ghost: Ghost, text: str, max_lines: int) -> bool:
    """Return whether more of a text cannot change what is shown."""
    return enough(_Parts.of(ghost, text).last) or text.count("\n") > max_lines


def presentable(
    cursor: Cursor, ghost: Ghost, answer: ModelText, settings: Completion, allowance: Allowance | None = None
) -> str | None:
    """Return the part of a model's text that may be shown: shaped by the rules, and without a new syntax error.

    Args:
        cursor: The place.
        ghost: The surroundings of the place.
        answer: The text of the model.
        settings: The settings of completion.
        allowance: The processor time for the syntax check. When it is used up, nothing is shown.
    """
    parts = _Parts.of(ghost, answer.text)
    lines = to_lf(complete_lines(parts.text, answer.stop, parts.ghost)).split("\n")
    text = "\n".join(lines[: max(1, settings.max_lines)])
    shaped = shape(parts.ghost.having(text)).text
    if shaped and settings.max_lines > 1 and (opened := with_body(parts.ghost, text)):
        ghost_of_body, body = opened
        shaped = joined(shaped, shape(ghost_of_body.having(body)).text, parts.ghost)
    if shaped and parts.is_on_next_line:
        shaped = ghost.newline + shaped
    return valid_start(cursor.tree, cursor.offset, shaped, allowance) if shaped and cursor.tree else shaped


async def presentable_texts(
    cursor: Cursor, ghost: Ghost, answers: Sequence[ModelText], settings: Completion
) -> list[str | None]:
    """Return for each answer what `presentable` returns. All share one allowance.

    In a large tree this runs in a thread, so that other requests are answered meanwhile.
    """

    def present_all() -> list[str | None]:
        # created here, because it counts the time of the thread that uses it
        allowance = Allowance(BUDGET.gate_s)
        return [presentable(cursor, ghost, answer, settings, allowance) for answer in answers]

    nodes = cursor.tree.root.descendant_count if cursor.tree else 0
    return await offload(nodes, present_all, limit=LARGE_TREE_NODES - 1)


def complete_lines(text: str, stop: Stop | None, ghost: Ghost) -> str:
    """Return the complete lines of a text that a limit cut off, or the start of the only line."""
    if stop not in ("deadline", "limit"):
        return text
    lines, _, _ = text.rpartition("\n")
    if lines.strip():
        return lines
    # a line above another must be complete; at the end of a line, the start of a text is still useful
    return "" if ghost.mode == "line-above" else text


def valid_start(tree: SyntaxTree, offset: int, text: str, allowance: Allowance | None = None) -> str | None:
    """Return as many leading lines of `text` as add no syntax error at `offset`.

    Returns:
        None if even the first line adds an error, or if the check takes longer than the allowance.
    """
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
