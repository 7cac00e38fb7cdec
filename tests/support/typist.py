"""A simulated user with a simulated clock, and an engine with given speeds.

Nothing sleeps and nothing depends on the machine, so what a replay counts is the same everywhere.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.trigger_policy import TriggerPolicy
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.errors import RequestSuperseded
from lsp_harness.inference.request import Chunk, Infill, ModelRequest, Props, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.workspace.typed_text import TypingRhythm
from tests.support.desk import Desk

EDITOR = 0.04
"""Seconds after a change at which VS Code asks; it cancels what it asked before with the change itself."""
RIGHT = 0.3
"""Share of the places where the engine knows the rest of the line."""
CHARACTERS = 4
"""Of a token."""


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes at once, and only while no callback is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        loop: Any = self
        if not loop._ready and loop._scheduled:
            self.now = max(self.now, loop._scheduled[0].when())
        super()._run_once()  # pyright: ignore[reportAttributeAccessIssue]


class SimulatedEngine(ScriptedEngine):
    """An engine that reads 250 tokens a second and writes 25. A known beginning of a prompt is not read again."""

    STEP, TOKEN, AT_ONCE = 0.064, 0.04, 16

    def __init__(self, whole: str) -> None:
        super().__init__([])
        self.whole = whole
        self.requests = self.read = self.wrote = 0
        self._resident = ""
        self._free = asyncio.Lock()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        assert isinstance(request, Infill)
        self.requests += 1
        prompt = request.context.prefix
        async with self._free:
            same = next((n for n, (a, b) in enumerate(zip(prompt, self._resident, strict=False)) if a != b), None)
            at = min(len(prompt), len(self._resident)) if same is None else same
            while at < len(prompt):
                end = min(len(prompt), at + CHARACTERS * self.AT_ONCE)
                await asyncio.sleep(self.STEP * (end - at) / (CHARACTERS * self.AT_ONCE))
                self.read += -(-(end - at) // CHARACTERS)
                at, self._resident = end, prompt[:end]
            answer = self._answer(prompt)
            for start in range(0, len(answer), CHARACTERS):
                await asyncio.sleep(self.TOKEN)
                self.wrote += 1
                yield Chunk(answer[start : start + CHARACTERS])
        yield Chunk("", "eos", Usage(generated=len(answer) // CHARACTERS))

    def _answer(self, prompt: str) -> str:
        digest = blake2b(prompt.encode(), digest_size=8).digest()
        rest = self.whole[len(prompt) :].split("\n", 1)[0]
        return rest if int.from_bytes(digest) / 2**64 < RIGHT else "other(value, 1)"

    async def props(self) -> Props:
        return Props("made up", 8192, 0, {"curve": {"prompt_per_second": 250.0, "generated_per_second": 25.0}}, {})

    async def count(self, texts: Sequence[str]) -> list[int]:
        return [-(-len(text) // CHARACTERS) for text in texts]


@dataclass
class Replay:
    """The cost of a replay: requests to the engine, its read and written tokens, and the times of suggestions."""

    requests: int = 0
    read: int = 0
    wrote: int = 0
    shown: dict[int, float] = field(default_factory=dict[int, float])
    """Key → seconds after it."""
    written: set[int] = field(default_factory=set[int])
    """The keys whose suggestion the engine wrote then; the others went on with one that was there."""


def draw_gaps(text: str, median: float, seed: int) -> list[float]:
    """Draw the seconds before each key: short inside of words, longer between them, and pauses after some lines."""
    draw = random.Random(seed)
    found: list[float] = []
    for before, key in zip("\n" + text, text, strict=False):
        slow = 1.0 if key.isalnum() and before.isalnum() else 1.5
        gap = median * slow * draw.lognormvariate(0, 0.25)
        if before in "\n:" and draw.random() < 0.4:
            gap += draw.uniform(0.8, 3.0)
        found.append(gap)
    return found


def replay(head: str, text: str, pauses: Sequence[float], quiet: Quiet) -> Replay:
    """Type `text` behind `head`, asking after every key as an editor does."""
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(_replay(loop, head, text, pauses, quiet))
    finally:
        loop.close()


async def _replay(loop: SimulatedLoop, head: str, text: str, pauses: Sequence[float], quiet: Quiet) -> Replay:
    engine, result = SimulatedEngine(head + text), Replay()
    rhythm = TypingRhythm(loop.time)
    settings = Completion(outline_tokens=0, warm=False, speculate=False)
    completer = Desk(Completer(engine, settings, TriggerPolicy(quiet)), rhythm)
    document = Document.from_text("file:///a.py", head, version=0)
    asked: asyncio.Task[None] | None = None

    async def ask(number: int, document: Document, offset: int, began: float) -> None:
        await asyncio.sleep(EDITOR)
        try:
            found = await completer.complete(document, parse(document), offset, "a.py", automatic=True)
        except RequestSuperseded:
            return
        if found:
            result.shown[number] = loop.time() - began
            if not {"typed_along", "cached"} & found.stats.keys():
                result.written.add(number)

    for number, (key, pause) in enumerate(zip(text, pauses, strict=True)):
        await asyncio.sleep(pause)
        edit = Edit(len(document.data), len(document.data), encode(key))
        before, document = document, document.apply_edit(edit, number + 1)
        if asked:
            asked.cancel()
        completer.opened(document).history.add(before, edit, document)
        asked = asyncio.ensure_future(ask(number, document, len(document.data), loop.time()))
    if asked:
        await asked
    await completer.aclose()
    result.requests, result.read, result.wrote = engine.requests, engine.read, engine.wrote
    return result
