"""The work of the language server at a keystroke, without the protocol: edit, parse, build and send the prompts.

The requests are those of the completion of the language server, with two differences. The number of tokens is fixed and
there is no time limit, because both servers of a comparison must do the same work. Results are not shaped or cached,
because that needs no engine.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from time import perf_counter

from benchmarks.engine.our_engine import BenchEngine
from benchmarks.engine.real_edits import RealEdit
from benchmarks.engine.timing import Timing, measure_stream
from lsp_harness.completion.completion_request import RequestBuilder
from lsp_harness.context.repository_context import RepositoryChoice, RepositoryContext
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.inference.request import Infill, Owner, Sampling
from lsp_harness.process.typing_activity import record_typing
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from lsp_harness.workspace.cursor import Cursor


class SimulatedEditor:
    """One open file of one client.

    Args:
        engine: The engine that is measured.
        edit: The edit whose file is open.
        index: The index of its folder.
        client: The name of the client.
        persist: The engine may store evaluated prompts on disk.
        full_prompt: Always send the full prompt, however long its evaluation takes.
    """

    def __init__(
        self,
        engine: BenchEngine,
        edit: RealEdit,
        index: IndexQuery | None = None,
        *,
        client: str = "bench",
        persist: bool = False,
        full_prompt: bool = False,
    ) -> None:
        self._engine = engine
        repository_context = RepositoryContext(index, engine.client.count) if index else None
        self._requests = RequestBuilder(engine.client, engine.config.completion, repository=repository_context)
        self._choice = RepositoryChoice()
        self._owner = Owner(client=client, persist=persist)
        self._full_prompt = full_prompt
        self._background_task: asyncio.Task[None] | None = None
        self.background_timings: list[Timing] = []
        """Evaluations for which the user did not wait."""
        self.path = edit.path
        self.document = Document.from_text(f"file:///{edit.path}", edit.before + edit.after, language=edit.language)
        self.tree = parse(self.document)

    def replace(self, start: int, end: int, text: str) -> None:
        """Change the document; the offsets are in bytes."""
        change = Edit(start, end, encode(text))
        old, self.document = self.document, self.document.apply_edit(change, self.document.version + 1)
        self.tree = self.tree.update(old, change, self.document) if self.tree else None

    async def complete(self, offset: int, n_predict: int, start: float | None = None) -> Timing:
        """Request a completion. The time includes the building of the prompts.

        If the engine used a shorter prompt, the full one is evaluated in the background afterwards.
        """
        start = perf_counter() if start is None else start
        completion_request = await self._requests.build(self._cursor(offset), self._choice)
        full, *shorter = (prompt.engine_input for prompt in completion_request.prompts)
        budget = completion_request.pace.budget_ms(completion_request.settings)
        request = Infill(
            full,
            sampling=Sampling(n_predict=n_predict),
            owner=self._owner,
            shorter=tuple(shorter),
            budget_ms=0 if self._full_prompt or not shorter else budget,
        )
        timing = await measure_stream(self._engine.client.stream(request), start)
        if timing.usage.rung and (self._background_task is None or self._background_task.done()):
            self._background_task = asyncio.ensure_future(
                self._evaluate(completion_request.evaluation_infills(completion_request.prompts[:1]))
            )
        return timing

    async def rest(self, offset: int) -> None:
        """Rest the cursor at an offset: evaluate the cheapest prompt in the background, then the full one."""
        await self.leave()
        pace = await self._requests.pace()
        cursor = self._cursor(offset).resting_place(appends=pace.is_append_only)
        completion_request = await self._requests.build(cursor, self._choice, is_resting=True)
        full, *shorter = completion_request.prompts
        self._background_task = asyncio.ensure_future(
            self._evaluate(completion_request.evaluation_infills([*shorter[-1:], full]))
        )

    @property
    def is_settled(self) -> bool:
        """Return whether no background evaluation runs."""
        return self._background_task is None or self._background_task.done()

    async def settle(self) -> None:
        """Wait for the background evaluation."""
        if self._background_task:
            await self._background_task

    async def leave(self) -> None:
        """Stop the background evaluation."""
        if self._background_task:
            self._background_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._background_task

    def _cursor(self, offset: int) -> Cursor:
        return Cursor(self.document, self.tree, offset, self.path)

    async def _evaluate(self, requests: list[Infill]) -> None:
        for request in requests:
            owned = replace(request, owner=self._owner)
            self.background_timings.append(await measure_stream(self._engine.client.stream(owned)))


class Typist:
    """Types into the hole of an edit. Each key of a trace becomes one change of the document."""

    def __init__(self, editor: SimulatedEditor, edit: RealEdit) -> None:
        self.editor = editor
        self.hole = len(encode(edit.before))
        self._typed = b""

    async def key(self, typed: str, n_predict: int) -> Timing:
        """Change the text in the hole to `typed`, and request a completion at its end. The time includes the change."""
        start = perf_counter()
        # the language server does this too
        record_typing()
        new = encode(typed)
        shared = count_common_prefix_bytes(self._typed, new)
        self.editor.replace(self.hole + shared, self.hole + len(self._typed), decode(new[shared:]))
        self._typed = new
        return await self.editor.complete(self.hole + len(new), n_predict, start)


def count_common_prefix_bytes(a: bytes, b: bytes) -> int:
    """Return the length of the common prefix in bytes, which ends at a character boundary in both texts."""
    size = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    while size and any(size < len(text) and text[size] & 0xC0 == 0x80 for text in (a, b)):
        size -= 1
    return size
