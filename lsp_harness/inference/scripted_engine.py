"""A test double that plays replies from a file. It shows plumbing, never what a model can do.

The file is a JSON list of `{"text": …, "expect": …, "hang": false, "error": …}`: replies in order; `expect` is text
the prompt must contain; `hang` never ends, after its text if it has one, `error` fails, `stop` and `rung` are how it says it ended and which prompt
it took; `tokens`, in place of a text, are lists of a text and its probability. A request for several candidates takes a
reply for each. Running out of replies is an error, and so is closing with replies left over; but a background request
takes a reply only if that is marked `background`.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import ConfigError, EngineError, FileProblem
from lsp_harness.inference.backends.backend import FEATURES, Features
from lsp_harness.inference.request import Chunk, Continuation, Infill, Priority, Props, Stop, TokenLogprob, Usage
from lsp_harness.text.wording import format_count

LARGEST = 16_000_000
"""Bytes of a script."""
DIMENSIONS = 64
"""Of the scripted embeddings."""


class ScriptedEngine:
    """An `Engine`. `asked` keeps the requests for a test to look at, `ahead` those of the background."""

    def __init__(self, script: Path | Sequence[dict[str, Any]]) -> None:
        if isinstance(script, Path):
            try:
                replies = json.loads(read_text(script, LARGEST))
            except (FileProblem, ValueError) as error:
                raise ConfigError(f"engine.script {script} cannot be read: {error}") from error
            if not isinstance(replies, list) or not all(isinstance(r, dict) for r in cast("list[Any]", replies)):
                raise ConfigError(f"engine.script {script} must be a JSON list of objects")
        else:
            replies = list(script)
        self._replies: list[dict[str, Any]] = replies
        self._played = 0
        self.asked: list[Continuation | Infill] = []
        self.ahead: list[Continuation | Infill] = []
        self.facts: dict[str, Any] = {}
        """More of what `/props` says."""

    async def stream(self, request: Continuation | Infill) -> AsyncIterator[Chunk]:
        (self.ahead if request.priority == "background" else self.asked).append(request)
        if not request.sampling.n_predict or (request.priority == "background" and not self._meant_for_background()):
            yield Chunk("", "limit" if not request.sampling.n_predict else "cancelled")
            return
        for index in range(request.sampling.n):
            async for chunk in self._play(request, index):
                yield chunk

    async def _play(self, request: Continuation | Infill, index: int) -> AsyncIterator[Chunk]:
        if self._played == len(self._replies):
            raise EngineError(
                f"the script has {format_count(self._played, 'reply', 'replies')} and another one was requested: {request!r:.300}"
            )
        reply = self._replies[self._played]
        self._played += 1
        rung = int(reply.get("rung", 0))
        if isinstance(request, Continuation):
            prompt = str(request.prompt)
        else:
            around = (request.around, *request.shorter[:rung])[-1]
            prompt = f"{around.prefix}\0{around.suffix}"
        if (expected := reply.get("expect")) and expected not in prompt:
            raise EngineError(
                f"reply {self._played} expects {expected!r} in the prompt, but the prompt is {prompt!r:.300}"
            )
        if reply.get("hang"):
            if begun := str(reply.get("text", "")):
                yield Chunk(begun, index=index)
            await asyncio.Event().wait()
        if error := reply.get("error"):
            raise EngineError(error)
        if tokens := reply.get("tokens"):
            for token, probability in cast("list[tuple[str, float]]", tokens):
                yield Chunk(token, index=index, logprobs=(TokenLogprob(token, math.log(probability)),))
        text = str(reply.get("text", ""))
        for stop in request.sampling.stop:
            text = text.split(stop, 1)[0]
        usage = Usage(len(prompt.replace("\0", "").split()), generated=len(text.split()), rung=rung)
        yield Chunk(text, index=index)
        yield Chunk("", cast("Stop", reply.get("stop", "eos")), usage, index)

    def _meant_for_background(self) -> bool:
        return self._played < len(self._replies) and bool(self._replies[self._played].get("background"))

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Words, for want of a tokenizer."""
        return [len(text.split()) for text in texts]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return "".join(f"{role}: {content}\n" for role, content in messages)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """Counts of hashed words, scaled to length 1: texts that share words are near, and that is all they know."""
        return [_vector(text.split()[:max_tokens]) for text in texts]

    async def cancel(self, name: str, index: int | None = None) -> bool:
        return False

    async def props(self) -> Props:
        """It can do next to nothing: a script knows no prompt, no grammar and no tokens. What is asked ahead is in
        nobody's way."""
        can: Features = {name: name == "priority" for name in FEATURES} | self.facts.get("features", {})
        return Props("scripted", int(self.facts.get("n_ctx", 8192)), 0, {"scripted": True, **self.facts}, can)

    async def aclose(self) -> None:
        left = len(self._replies) - self._played
        if left:
            raise EngineError(f"{left} of {len(self._replies)} scripted replies were not used")


def _vector(words: Sequence[str]) -> list[float]:
    counts = [0.0] * DIMENSIONS
    for word in words:
        counts[blake2b(word.encode(), digest_size=1).digest()[0] % DIMENSIONS] += 1
    length = math.hypot(*counts) or 1.0
    return [count / length for count in counts]
