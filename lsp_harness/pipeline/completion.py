"""A cursor → ghost text: gather, generate, shape, and the syntax gate.

A newer request for a document ends the older one, whether or not the client says so. Typing along with what is shown
needs no model call.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

from ulid import ULID

from lsp_harness.config.schema import Completion
from lsp_harness.context.infill import InfillPrompt, infill
from lsp_harness.errors import Superseded
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Around, Infill, Sampling, Stop, Usage
from lsp_harness.pipeline.ghost import Ghost
from lsp_harness.pipeline.lines import to_lf
from lsp_harness.pipeline.mode import choose
from lsp_harness.pipeline.next_line import joined, may_break, on_next_line, with_body
from lsp_harness.pipeline.offers import Suggestion
from lsp_harness.pipeline.shape import enough, shape
from lsp_harness.syntax.tree import LIMIT, SyntaxTree
from lsp_harness.syntax.unfinished import adds_error
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

AROUND = 60
"""Lines on either side of the cursor that the shaping rules look at."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A suggestion as it was given, for typing along and for verification after it was accepted."""

    document: Document
    suggestion: Suggestion


def rest_of(shown: Shown, document: Document, offset: int) -> str | None:
    """What is left of a shown text after the user typed the beginning of it; None if they did something else."""
    start = shown.suggestion.start
    old, new = shown.document.data, document.data
    typed = new[start:offset]
    text = encode(shown.suggestion.text)
    same = (
        offset >= start
        and len(new) == len(old) + len(typed)
        and text.startswith(typed)
        and new[:start] == old[:start]
        and new[offset:] == old[start:]
    )
    return decode(text[len(typed) :]) if same else None


class Completer:
    """One per front end. Holds what is running and what was shown last, per document."""

    def __init__(self, engine: Engine, settings: Completion) -> None:
        self._engine = engine
        self.settings = settings
        self._running: dict[str, asyncio.Task[Suggestion | None]] = {}
        self._shown: dict[str, Shown] = {}
        self.last: dict[str, Any] = {}
        """The figures of the last suggestion."""

    async def complete(self, document: Document, tree: SyntaxTree | None, offset: int, path: str) -> Suggestion | None:
        """The suggestion at `offset`, or nothing. Raises Superseded when a newer call for this document came."""
        uri = document.uri
        if previous := self._running.pop(uri, None):
            previous.cancel()
        if document.binary or len(document.data) > LIMIT:
            return None
        if (shown := self._shown.get(uri)) and (rest := rest_of(shown, document, offset)):
            return self._show(document, offset, rest, {"typed_along": True, **_stats(Usage(), 0, 0.0)})
        work = asyncio.ensure_future(self._compute(document, tree, offset, path))
        self._running[uri] = work
        try:
            # shielded, so that the two reasons for an end can be told apart
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if work.cancelled() and self._running.get(uri) is not work:
                raise Superseded("a newer request for this document replaced this one") from None
            work.cancel()
            raise
        finally:
            if self._running.get(uri) is work:
                del self._running[uri]

    def shown(self, uri: str, suggestion_id: str) -> Shown | None:
        """The last suggestion of a document, if it is that one."""
        shown = self._shown.get(uri)
        return shown if shown and shown.suggestion.id == suggestion_id else None

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self._shown.pop(uri, None)
        if running := self._running.pop(uri, None):
            running.cancel()

    async def _compute(self, document: Document, tree: SyntaxTree | None, offset: int, path: str) -> Suggestion | None:
        began = perf_counter()
        prompt = await infill(document, tree, offset, path, self.settings, self._engine.count)
        ghost = self._blank(document, tree, offset)
        text, stop, usage = await self._generate(prompt, ghost)
        lead = ""
        if broken := on_next_line(ghost, text):
            lead, (ghost, text) = ghost.newline, broken
        text = "\n".join(to_lf(whole(text, stop, ghost)).split("\n")[: max(1, self.settings.max_lines)])
        shaped = shape(ghost.having(text)).text
        if shaped and (opened := with_body(ghost, text)) and self.settings.max_lines > 1:
            here, body = opened
            shaped = joined(shaped, shape(here.having(body)).text, ghost)
        shaped = shaped and lead + shaped
        if shaped and tree:
            shaped = passing(tree, offset, shaped)
        if not shaped:
            return None
        return self._show(document, offset, shaped, _stats(usage, prompt.tokens, began))

    def _blank(self, document: Document, tree: SyntaxTree | None, offset: int) -> Ghost:
        line = document.line_of(offset)
        first = document.starts[max(0, line - AROUND)]
        last = document.starts[line + AROUND] if line + AROUND < len(document.starts) else len(document.data)
        prefix, suffix = decode(document.data[first:offset]), decode(document.data[offset:last])
        language = tree.language.id if tree else document.language
        return Ghost(prefix, suffix, "", choose(prefix, suffix, language), language, document.newline)

    async def _generate(self, prompt: InfillPrompt, ghost: Ghost) -> tuple[str, Stop | None, Usage]:
        sampling = Sampling(
            n_predict=self.settings.max_tokens,
            # in the middle of a line nothing below it is of use
            stop=("\n",) if ghost.mode == "line" and ghost.line_suffix.strip() and not may_break(ghost) else (),
            t_max_predict_ms=self.settings.latency_ms,
        )
        extra = ((prompt.outline.origin, prompt.outline.text),) if prompt.outline.text else ()
        request = Infill(Around(prompt.prefix.text, prompt.suffix.text, extra), sampling=sampling)
        text, stop, usage = "", None, Usage()
        async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
            async for chunk in chunks:
                text += chunk.text
                usage, stop = chunk.usage, chunk.stop
                if stop:
                    break
                here, added = on_next_line(ghost, text) or (ghost, text)
                here, added = with_body(here, added) or (here, added)
                if enough(here.having(added)) or text.count("\n") > self.settings.max_lines:
                    break
        return text, stop, usage

    def _show(self, document: Document, offset: int, text: str, stats: dict[str, Any]) -> Suggestion:
        suggestion = Suggestion(str(ULID()), offset, offset, text, stats)
        self._shown[document.uri] = Shown(document, suggestion)
        self.last = stats
        return suggestion


def whole(text: str, stop: Stop | None, ghost: Ghost) -> str:
    """What may be shown of a text that was cut off by a limit: whole lines, or the beginning of a lone one."""
    if stop not in ("deadline", "limit"):
        return text
    lines, _, _ = text.rpartition("\n")
    if lines.strip():
        return lines
    # a line put above another must be complete; at the end of a line a beginning is still of use
    return "" if ghost.mode == "line-above" else text


def passing(tree: SyntaxTree, offset: int, text: str) -> str | None:
    """The longest run of leading lines that adds no syntax error; None if not even the first does."""
    lines = text.splitlines(keepends=True)
    for size in range(len(lines), 0, -1):
        part = "".join(lines[:size])
        part = part if size == len(lines) else part.rstrip()
        if not part.strip():
            continue
        new = encode(part)
        after = tree.spliced(Edit(offset, offset, new))
        if after is None or not adds_error(tree, after, (offset, offset + len(new))):
            return part
    return None


def _stats(usage: Usage, tokens: int, began: float) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens,
        "evaluated": usage.evaluated,
        "reused": usage.reused,
        "generated": usage.generated,
        "ms": round((perf_counter() - began) * 1000, 1) if began else 0.0,
    }
