"""A test double that plays replies from a file. It shows plumbing, never what a model can do.

The file is a JSON list of `{"text": …, "expect": …, "hang": false, "error": …}`: replies in order; `expect` is text
the prompt must contain; `hang` never answers, `error` fails. Running out of replies is an error, and so is closing
with replies left over.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.errors import ConfigError, EngineError
from lsp_harness.inference.request import Chunk, Continuation, Infill, Props, Usage


class ScriptedEngine:
    """An `Engine`. `asked` keeps every request for a test to look at."""

    def __init__(self, script: Path | Sequence[dict[str, Any]]) -> None:
        if isinstance(script, Path):
            try:
                replies = json.loads(script.read_text())
            except (OSError, ValueError) as error:
                raise ConfigError(f"engine.script {script} cannot be read: {error}") from error
            if not isinstance(replies, list) or not all(isinstance(r, dict) for r in cast("list[Any]", replies)):
                raise ConfigError(f"engine.script {script} must be a JSON list of objects")
        else:
            replies = list(script)
        self._replies: list[dict[str, Any]] = replies
        self._played = 0
        self.asked: list[Continuation | Infill] = []

    async def stream(self, request: Continuation | Infill) -> AsyncIterator[Chunk]:
        self.asked.append(request)
        if self._played == len(self._replies):
            raise EngineError(
                f"the script has {self._played} replies and a further one was asked for: {request!r:.300}"
            )
        reply = self._replies[self._played]
        self._played += 1
        prompt = (
            request.prompt
            if isinstance(request, Continuation)
            else request.around.prefix + "\0" + request.around.suffix
        )
        if (expected := reply.get("expect")) and expected not in str(prompt):
            raise EngineError(f"reply {self._played} expected {expected!r} in the prompt, which is {prompt!r:.300}")
        if reply.get("hang"):
            await asyncio.Event().wait()
        if error := reply.get("error"):
            raise EngineError(error)
        text = str(reply.get("text", ""))
        for stop in request.sampling.stop:
            text = text.split(stop, 1)[0]
        yield Chunk(text)
        yield Chunk("", "eos", Usage(evaluated=len(str(prompt).split()), generated=len(text.split())))

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Words, for want of a tokenizer."""
        return [len(text.split()) for text in texts]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return "".join(f"{role}: {content}\n" for role, content in messages)

    async def props(self) -> Props:
        return Props("scripted", 8192, 0, {"scripted": True})

    async def aclose(self) -> None:
        left = len(self._replies) - self._played
        if left:
            raise EngineError(f"{left} of {len(self._replies)} scripted replies were not used")
