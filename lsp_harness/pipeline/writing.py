"""From a cursor to the model's text, and from the model's text to what may be shown: the steps of one completion."""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from lsp_harness.config.schema import Completion
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Infill, Stop, Usage
from lsp_harness.pipeline.ghost import Ghost
from lsp_harness.pipeline.lines import to_lf
from lsp_harness.pipeline.mode import choose
from lsp_harness.pipeline.next_line import joined, on_next_line, with_body
from lsp_harness.pipeline.results import Written
from lsp_harness.pipeline.shape import enough, shape
from lsp_harness.process.offload import offload
from lsp_harness.syntax.budget import BUDGET, Allowance, TooCostly
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.syntax.unfinished import adds_error
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

AROUND = 60
"""Lines on either side of the cursor that the shaping rules look at."""
LARGE_TREE = 5_000
"""Nodes of a tree in which it may take tens of milliseconds to judge a text."""
WIDE = 32_000
"""Bytes on either side of it that they look at, however long the lines are."""


@dataclass(frozen=True, slots=True)
class Site:
    """A cursor in one version of a document. `persist`: what the engine makes of it may be written to disk."""

    document: Document
    tree: SyntaxTree | None
    offset: int
    path: str
    persist: bool = False

    def ghost(self) -> Ghost:
        """The surroundings, with nothing written yet."""
        document, offset = self.document, self.offset
        line = document.line_of(offset)
        first = max(document.starts[max(0, line - AROUND)], offset - WIDE)
        last = document.starts[line + AROUND] if line + AROUND < len(document.starts) else len(document.data)
        last = min(last, offset + WIDE)
        prefix, suffix = decode(document.data[first:offset]), decode(document.data[offset:last])
        language = self.tree.language.id if self.tree else document.language
        return Ghost(prefix, suffix, "", choose(prefix, suffix, language), language, document.newline)

    def same(self, other: "Site") -> bool:
        """Whether this is the same place in the same text."""
        return self.offset == other.offset and self.document.data == other.document.data

    def follows(self, other: "Site") -> bool:
        """Whether this is `other` with nothing but text typed there since, or the same place."""
        new, old = self.document.data, other.document.data
        return (
            self.offset >= other.offset
            and new[: other.offset] == old[: other.offset]
            and new[self.offset :] == old[other.offset :]
        )

    def resting(self, *, appends: bool) -> "Site":
        """What to prepare for while the cursor rests here: at the end of a line's text a new line below, as the next
        key is often Enter; else this place.

        Only where a prompt `appends`, ends with the text before the cursor: there the new line's goes on from this
        place's, so whoever reads it has read both. It is indented as this line is, or as the text below that is further in:
        where an editor does otherwise, the blanks are spelled once more.
        """
        data, offset = self.document.data, self.offset
        ends = offset == len(data) or data[offset : offset + 1] in (b"\r", b"\n")
        written = data[max(0, offset - 1) : offset].strip()
        if not (appends and ends and written):
            return self
        line = self.document.line_of(offset)
        return self.after(self.document.newline + max(self._indent(line), self._indent(line + 1), key=len))

    def _indent(self, line: int) -> str:
        """The blanks a line begins with; none where it has no text."""
        text = decode(self.document.line(line)) if line < len(self.document.starts) else ""
        return text[: len(text) - len(text.lstrip())] if text.strip() else ""

    def after(self, text: str) -> "Site":
        """The cursor behind `text`, as if that had been accepted."""
        edit = Edit(self.offset, self.offset, encode(text))
        document = self.document.edited(edit, self.document.version)
        tree = self.tree.edited(self.document, edit, document, Allowance(BUDGET.gate_s)) if self.tree else None
        return Site(document, tree, self.offset + len(edit.new), self.path, self.persist)


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
    site: Site, ghost: Ghost, written: Written, settings: Completion, allowance: Allowance | None = None
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
    return passing(site.tree, site.offset, shaped, allowance) if shaped and site.tree else shaped


async def presented(site: Site, ghost: Ghost, texts: Sequence[Written], settings: Completion) -> list[str | None]:
    """What of each text may be shown, as `presentable` says; they share one allowance. In a large tree that is found out in a thread, so
    that other requests are answered meanwhile."""

    def all_presentable() -> list[str | None]:
        # made here: it counts the time of the thread that uses it
        allowance = Allowance(BUDGET.gate_s)
        return [presentable(site, ghost, each, settings, allowance) for each in texts]

    nodes = site.tree.root.descendant_count if site.tree else 0
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
            after = tree.splice(Edit(offset, offset, new), allowance)
            if after is None or not adds_error(tree, after, (offset, offset + len(new)), allowance):
                return part
        except TooCostly:
            return None
    return None
