"""What the language server does at a keystroke, without the protocol: edit, parse, assemble the prompts, ask.

The requests are those of `pipeline.completion`, with two differences: a fixed number of tokens and no time limit, so that
both sides of a comparison do the same work, and no shaping or caching of results, which need no engine.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from time import perf_counter

from lsp_harness.bench.our_engine import Ours
from lsp_harness.bench.real_edits import RealEdit
from lsp_harness.bench.timing import Timing, timed
from lsp_harness.completion.request.completion_request import Questions
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.inference.request import Infill, Owner, Sampling
from lsp_harness.process.typing_activity import pressed
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from lsp_harness.workspace.cursor import Cursor


class Editor:
    """One open file of one client, in a folder whose index is `known`. `background` are the evaluations nobody waited for.

    A `patient` one always asks with the full prompt, however long that takes.
    """

    def __init__(
        self,
        ours: Ours,
        edit: RealEdit,
        known: IndexQuery | None = None,
        *,
        client: str = "bench",
        persist: bool = False,
        patient: bool = False,
    ) -> None:
        self._ours = ours
        elsewhere = RepositoryContext(known, ours.client.count) if known else None
        self._questions = Questions(ours.client, ours.config.completion, elsewhere=elsewhere)
        self._owner = Owner(client=client, persist=persist)
        self._patient = patient
        self._ahead: asyncio.Task[None] | None = None
        self.background: list[Timing] = []
        self.path = edit.path
        self.document = Document.of(f"file:///{edit.path}", edit.before + edit.after, language=edit.language)
        self.tree = parse(self.document)

    def replace(self, start: int, end: int, text: str) -> None:
        """Change the document; offsets are bytes."""
        change = Edit(start, end, encode(text))
        before, self.document = self.document, self.document.edited(change, self.document.version + 1)
        self.tree = self.tree.edited(before, change, self.document) if self.tree else None

    async def complete(self, offset: int, n_predict: int, began: float | None = None) -> Timing:
        """Ask for a completion; the clock runs from before the prompts are assembled.

        Where a short prompt had to do, the full one is evaluated behind it.
        """
        began = perf_counter() if began is None else began
        question = await self._questions.about(self._site(offset))
        full, *shorter = (prompt.engine_input for prompt in question.prompts)
        budget = question.pace.budget_ms(question.settings)
        request = Infill(
            full,
            sampling=Sampling(n_predict=n_predict),
            owner=self._owner,
            shorter=tuple(shorter),
            budget_ms=0 if self._patient or not shorter else budget,
        )
        timing = await timed(self._ours.client.stream(request), began)
        if timing.usage.rung and (self._ahead is None or self._ahead.done()):
            self._ahead = asyncio.ensure_future(self._evaluate(question.read(question.prompts[:1])))
        return timing

    async def rest(self, offset: int) -> None:
        """The cursor rests here: begin to evaluate the cheapest prompt, then the full one."""
        await self.leave()
        pace = await self._questions.pace()
        question = await self._questions.about(self._site(offset).resting(appends=pace.appends), rests=True)
        full, *shorter = question.prompts
        self._ahead = asyncio.ensure_future(self._evaluate(question.read([*shorter[-1:], full])))

    @property
    def settled(self) -> bool:
        """Nothing is being evaluated ahead."""
        return self._ahead is None or self._ahead.done()

    async def settle(self) -> None:
        """Wait for what is evaluated ahead."""
        if self._ahead:
            await self._ahead

    async def leave(self) -> None:
        """Stop what is evaluated ahead."""
        if self._ahead:
            self._ahead.cancel()
            with suppress(asyncio.CancelledError):
                await self._ahead

    def _site(self, offset: int) -> Cursor:
        return Cursor(self.document, self.tree, offset, self.path)

    async def _evaluate(self, requests: list[Infill]) -> None:
        for request in requests:
            own = replace(request, owner=self._owner)
            self.background.append(await timed(self._ours.client.stream(own)))


class Typist:
    """Types into the hole of an edit: each state of a trace becomes one change of the document."""

    def __init__(self, editor: Editor, edit: RealEdit) -> None:
        self.editor = editor
        self.hole = len(encode(edit.before))
        self._typed = b""

    async def key(self, typed: str, n_predict: int) -> Timing:
        """Make the hole contain `typed` and ask for a completion at its end; the change is part of the time."""
        began = perf_counter()
        # as a server does
        pressed()
        new = encode(typed)
        shared = common(self._typed, new)
        self.editor.replace(self.hole + shared, self.hole + len(self._typed), decode(new[shared:]))
        self._typed = new
        return await self.editor.complete(self.hole + len(new), n_predict, began)


def common(a: bytes, b: bytes) -> int:
    """Length of the common prefix that ends at a character's boundary in both."""
    size = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    while size and any(size < len(text) and text[size] & 0xC0 == 0x80 for text in (a, b)):
        size -= 1
    return size
