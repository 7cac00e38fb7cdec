"""The OpenAI dialect: vLLM, and every service that calls itself compatible."""

import asyncio
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, cast

from lsp_harness.errors import EngineError, EngineRefused
from lsp_harness.inference.backends import conversation
from lsp_harness.inference.backends.backend import (
    BYTES_A_TOKEN,
    FEATURES,
    NO_INFILL,
    Features,
    Json,
    estimated,
    without_error,
)
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.backends.model_family import Family, family_of, why_not
from lsp_harness.inference.backends.trailing_blanks import Blanks, cut
from lsp_harness.inference.request import (
    Chunk,
    Continuation,
    Infill,
    Priority,
    Props,
    Sampling,
    Stop,
    TokenLogprob,
    Usage,
)
from lsp_harness.text.wording import format_count

AT_ONCE = 8
MOST_STOPS = 4
"""OpenAI refuses more."""


class _Exchange:
    """`/v1/completions` and `/v1/chat/completions`, streamed."""

    def __init__(self, path: str, body: Json, sampling: Sampling, blanks: str, *, mute: bool) -> None:
        self.path = path
        self.body = body
        self.complete = False
        self._open = set(range(sampling.n))
        self._owed: Chunk | None = None
        self._usage = Usage()
        self._blanks = [Blanks(blanks) for _ in range(sampling.n)] if blanks else []
        self._mute = mute
        self._seconds = sampling.t_max_predict_ms / 1000 or math.inf
        self._began: float | None = None
        self._left = False
        """The service would go on with one that has had its time."""

    def read(self, data: str) -> Iterable[Chunk]:
        if data == "[DONE]":
            yield from self.ended()
            # a service may have given fewer candidates than it was asked for
            self.complete = True
            return
        body = without_error(json.loads(data))
        if told := cast("Json | None", body.get("usage")):
            self._usage = _usage(told)
        for choice in cast("list[Json]", body.get("choices") or []):
            yield from self._choice(choice)
        if self._left and not self._open:
            yield from self.ended()
            self.complete = True

    def ended(self) -> Iterable[Chunk]:
        """The last candidate's end, which waited for the usage that comes after it."""
        self.complete = not self._open or self._owed is not None
        if self._owed:
            yield replace(self._owed, usage=self._usage)

    def _choice(self, choice: Json) -> Iterable[Chunk]:
        index = int(choice.get("index") or 0)
        if index not in self._open:
            return
        delta = cast("Json", choice.get("delta") or {})
        text = str(choice.get("text") or delta.get("content") or "")
        self._began = monotonic() if self._began is None else self._began
        if self._blanks:
            text = self._blanks[index].strip(text)
        logprobs = _logprobs(choice.get("logprobs"))
        if (text or logprobs) and not self._mute:
            yield Chunk(text, None, Usage(), index, logprobs)
        if stop := _stop(choice) or self._late(text):
            self._open.discard(index)
            if self._open:
                yield Chunk("", stop, Usage(), index)
            else:
                self._owed = Chunk("", stop, Usage(), index)

    def _late(self, text: str) -> Stop | None:
        if "\n" not in text or monotonic() - (self._began or 0.0) <= self._seconds:
            return None
        self._left = True
        return "deadline"


class OpenAI:
    """A server of the OpenAI dialect; `vllm` is its version there, and empty elsewhere."""

    def __init__(self, endpoint: Endpoint, model: str, *, vllm: str = "", n_ctx: int = 0) -> None:
        self._endpoint = endpoint
        self._model = model
        self._vllm = vllm
        self._n_ctx = n_ctx
        self.kind = f"vLLM {vllm}" if vllm else "OpenAI-compatible server"

    def features(self) -> Features:
        try:
            family = self._family()
            infill: bool | str = f"by the tokens of {family.name}" if family else "by the `suffix` parameter"
        except EngineRefused:
            infill = False
        ours = bool(self._vllm)
        return dict.fromkeys(FEATURES, False) | {
            "infill": infill,
            "heal": "blanks before the cursor are left out of the prompt and removed from the answer; a half-typed word is not completed",
            "lookup": "as the server was started (--speculative-config)" if ours else False,
            "grammar": ours,
            "n": True if ours else "if the service returns as many as requested",
            "logprobs": True if ours else "if the service returns them",
            "deadline": "kept by the client, which closes the connection",
            "warm": ours,
            "tokenize": True if ours else f"estimated: {BYTES_A_TOKEN} bytes a token",
            "embedding": "only if the served model embeds",
        }

    def ask(self, request: Continuation | Infill) -> _Exchange:
        sampling, blanks = request.sampling, ""
        mute = sampling.n_predict == 0
        limit = max(1, sampling.n_predict)
        if isinstance(request, Infill):
            prefix, blanks = cut(request.around.prefix) if request.heal else (request.around.prefix, "")
            around = replace(request.around, prefix=prefix)
            family = self._family()
            extra = "".join(text for _, text in around.extra)
            hole = (
                {"prompt": family.prompt(around)}
                if family
                else {"prompt": extra + around.prefix, "suffix": around.suffix}
            )
            body = hole | self._settings(sampling, family.recipe.stops if family else ())
            return _Exchange("/v1/completions", body | {"max_tokens": limit}, sampling, blanks, mute=mute)
        prompt = request.prompt
        if messages := conversation.of_prompt(prompt):
            body = {"messages": messages} | self._settings(sampling, (), chat=True)
            body[self._endpoint.target.provider.limit_field] = limit
            return _Exchange("/v1/chat/completions", body, sampling, "", mute=mute)
        if not isinstance(prompt, str):
            kinds = {type(part) for part in prompt}
            if len(kinds) != 1:
                raise EngineRefused("this server takes a prompt of text or of tokens, not a mixture")
            prompt = list(prompt) if kinds == {int} else "".join(cast("tuple[str, ...]", prompt))
        body = {"prompt": prompt} | self._settings(sampling, ())
        if self._vllm:
            body["add_special_tokens"] = False
        return _Exchange("/v1/completions", body | {"max_tokens": limit}, sampling, "", mute=mute)

    async def count(self, texts: Sequence[str]) -> list[int]:
        """By vLLM's tokenizer. Elsewhere each is an `Estimate`."""
        if not self._vllm:
            return estimated(texts)
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(text: str) -> int:
            body = {"model": self._model, "prompt": text, "add_special_tokens": False}
            async with gate:
                return int((await self._endpoint.call("POST", "/tokenize", body))["count"]) if text else 0

        return await asyncio.gather(*(one(text) for text in texts))

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return conversation.to_prompt(messages)

    async def props(self) -> Props:
        """What is known without asking; `token_counts` says whether counts are true."""
        counts = "exact" if self._vllm else "estimated"
        told = {"server": self.kind, "token_counts": counts}
        if why := why_not(self._endpoint.target.fim, self._model):
            told[NO_INFILL] = why
        return Props(self._model, self._n_ctx, 0, told)

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        body: Json = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._vllm:
            body["truncate_prompt_tokens"] = max_tokens
        answer = cast("Json", await self._endpoint.call("POST", "/v1/embeddings", body))
        rows = sorted(cast("list[Json]", answer.get("data") or []), key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise EngineError(
                f"{self._endpoint.name} returned {format_count(len(rows), 'vector')} for {format_count(len(texts), 'text')}"
            )
        return [[float(value) for value in row["embedding"]] for row in rows]

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        return False

    def _family(self) -> Family | None:
        return family_of(self._endpoint.target.fim, self._model)

    def _settings(self, sampling: Sampling, stops: Sequence[str], *, chat: bool = False) -> Json:
        body: Json = {
            "model": self._model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "n": sampling.n,
            "stop": [*sampling.stop, *stops],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        # others may refuse what they do not have, and no suggestion is worth that
        told = max(sampling.top_logprobs, 0 if sampling.confidence and self._vllm else -1)
        if told >= 0:
            body |= {"logprobs": True, "top_logprobs": told} if chat else {"logprobs": told}
        if not self._vllm:
            body["stop"] = body["stop"][:MOST_STOPS]
            return body
        # stops that are special tokens are only seen when those are not left out
        body |= {"top_k": sampling.top_k, "skip_special_tokens": not stops}
        if sampling.grammar:
            body |= (
                {"guided_grammar": sampling.grammar}
                if _older(self._vllm, (0, 12))
                else {"structured_outputs": {"grammar": sampling.grammar}}
            )
        return body


def _older(version: str, than: tuple[int, int]) -> bool:
    numbers = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    return bool(numbers) and tuple(numbers) < than


def _usage(told: Json) -> Usage:
    details = cast("Json", told.get("prompt_tokens_details") or {})
    reused = int(details.get("cached_tokens") or 0)
    return Usage(int(told.get("prompt_tokens") or 0) - reused, reused, int(told.get("completion_tokens") or 0))


def _stop(choice: Json) -> Stop | None:
    match choice.get("finish_reason"):
        case None | "":
            return None
        case "length":
            return "limit"
        case "stop":
            # vLLM says which stop it was; others do not tell a stop text from the model's own end
            return "word" if isinstance(choice.get("stop_reason"), str) else "eos"
        case _:
            return "eos"


def _logprobs(told: Json | None) -> tuple[TokenLogprob, ...]:
    """Both forms: rows under `content` (chat), columns under `tokens`."""
    told = told or {}
    rows = cast("list[Json]", told.get("content") or [])
    if rows:
        return tuple(
            TokenLogprob(
                str(row["token"]),
                float(row["logprob"]),
                tuple((str(top["token"]), float(top["logprob"])) for top in row.get("top_logprobs") or ()),
            )
            for row in rows
        )
    tokens = cast("list[Any]", told.get("tokens") or [])
    values = cast("list[Any]", told.get("token_logprobs") or [])
    tops = cast("list[dict[str, float] | None]", told.get("top_logprobs") or [None] * len(tokens))
    return tuple(
        TokenLogprob(str(token), float(value or 0), tuple((top or {}).items()))
        for token, value, top in zip(tokens, values, tops, strict=False)
    )
