"""A test double that plays replies from a file. It tests the code around a model, not the quality of a model.

The file is a JSON list of replies in order. A reply is an object with these keys, all optional:

- `text`: the answer.
- `tokens`: the answer as a list of pairs of a text and its probability.
- `expect`: text that the prompt must contain.
- `hang`: never end, after `tokens` and `text`.
- `error`: fail with this message.
- `stop`, `rung`: the stop reason, and the number of the prompt that was used.
- `background`: the reply is for a background request. Background requests take no other replies.

A request for several candidates takes one reply for each. It is an error if there are too few replies, or if replies
are left when the engine is closed.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import ConfigError, EngineError, FileError
from lsp_harness.inference.backends.backend import FEATURES, Features
from lsp_harness.inference.request import (
    ChatRequest,
    Chunk,
    Infill,
    ModelRequest,
    Priority,
    Props,
    Stop,
    TokenLogprob,
    ToolChat,
    Usage,
)
from lsp_harness.text.wording import format_count

SCRIPT_LIMIT_BYTES = 16_000_000
"""Size limit of a script."""
EMBEDDING_DIMENSIONS = 64
"""Length of a scripted embedding."""


class ScriptedEngine:
    """An `Engine` for tests. `foreground_requests` and `background_requests` hold the requests in order."""

    def __init__(self, script: Path | Sequence[dict[str, Any]]) -> None:
        if isinstance(script, Path):
            try:
                replies = json.loads(read_text(script, SCRIPT_LIMIT_BYTES))
            except (FileError, ValueError) as error:
                raise ConfigError(f"engine.script {script} cannot be read: {error}") from error
            if not isinstance(replies, list) or not all(isinstance(r, dict) for r in cast("list[Any]", replies)):
                raise ConfigError(f"engine.script {script} must be a JSON list of objects")
        else:
            replies = list(script)
        self._replies: list[dict[str, Any]] = replies
        self._played = 0
        self.foreground_requests: list[ModelRequest] = []
        self.background_requests: list[ModelRequest] = []
        self.extra_props: dict[str, Any] = {}
        """Additional entries of `/props`."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        (self.background_requests if request.priority == "background" else self.foreground_requests).append(request)
        if not request.sampling.n_predict or (request.priority == "background" and not self._next_is_background()):
            yield Chunk("", "limit" if not request.sampling.n_predict else "cancelled")
            return
        for index in range(request.sampling.n):
            async for chunk in self._play(request, index):
                yield chunk

    async def _play(self, request: ModelRequest, index: int) -> AsyncIterator[Chunk]:
        if self._played == len(self._replies):
            raise EngineError(
                f"the script has {format_count(self._played, 'reply', 'replies')} and another one was requested: "
                f"{request!r:.300}"
            )
        reply = self._replies[self._played]
        self._played += 1
        rung = int(reply.get("rung", 0))
        prompt = prompt_text(request, rung)
        if (expected := reply.get("expect")) and expected not in prompt:
            raise EngineError(
                f"reply {self._played} expects {expected!r} in the prompt, but the prompt is {prompt!r:.300}"
            )
        for token, probability in cast("list[tuple[str, float]]", reply.get("tokens", [])):
            logprobs = (TokenLogprob(token, math.log(probability)),)
            yield Chunk(token, usage=Usage(rung=rung), index=index, logprobs=logprobs)
        if reply.get("hang"):
            if text := str(reply.get("text", "")):
                yield Chunk(text, index=index)
            await asyncio.Event().wait()
        if error := reply.get("error"):
            raise EngineError(error)
        text = str(reply.get("text", ""))
        for stop in request.sampling.stop:
            text = text.split(stop, 1)[0]
        usage = Usage(len(prompt.replace("\0", "").split()), generated=len(text.split()), rung=rung)
        yield Chunk(text, index=index)
        yield Chunk("", cast("Stop", reply.get("stop", "eos")), usage, index)

    def _next_is_background(self) -> bool:
        return self._played < len(self._replies) and bool(self._replies[self._played].get("background"))

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Count words, because there is no tokenizer."""
        return [len(text.split()) for text in texts]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return _chat_text(messages)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """Return the counts of hashed words, scaled to length 1: texts that share words are near."""
        return [_make_vector(text.split()[:max_tokens]) for text in texts]

    async def cancel(self, name: str, index: int | None = None) -> bool:
        return False

    async def props(self) -> Props:
        """Return properties without features, except for `priority`: background requests do not delay others."""
        features: Features = {name: name == "priority" for name in FEATURES} | self.extra_props.get("features", {})
        return Props(
            "scripted", int(self.extra_props.get("n_ctx", 8192)), 0, {"scripted": True, **self.extra_props}, features
        )

    async def aclose(self) -> None:
        unused = len(self._replies) - self._played
        if unused:
            raise EngineError(f"{unused} of {len(self._replies)} scripted replies were not used")


def prompt_text(request: ModelRequest, rung: int = 0) -> str:
    """Return the text of a prompt; a NUL stands for the hole. `rung` 0 is the full prompt, 1 the first shorter one."""
    match request:
        case Infill():
            context = (request.context, *request.shorter[:rung])[-1]
            return f"{context.prefix}\0{context.suffix}"
        case ChatRequest():
            return _chat_text(request.messages)
        case ToolChat():
            return _chat_text([(message.role, message.text) for message in request.messages])
        case _:
            return str(request.prompt)


def _chat_text(messages: Sequence[tuple[str, str]]) -> str:
    return "".join(f"{role}: {content}\n" for role, content in messages)


def _make_vector(words: Sequence[str]) -> list[float]:
    counts = [0.0] * EMBEDDING_DIMENSIONS
    for word in words:
        counts[blake2b(word.encode(), digest_size=1).digest()[0] % EMBEDDING_DIMENSIONS] += 1
    length = math.hypot(*counts) or 1.0
    return [count / length for count in counts]
