"""The state that all HTTP routes share: the models, the scheduler, and what is known about them."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from time import monotonic
from typing import Any, TypeVar

from lsp_harness.engine.cache.host_cache import HostSequence
from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.engine.decode.fim_prompt import FimOrder, tokenize_infill
from lsp_harness.engine.decode.model_runtime import ModelRuntime, Prompt, TokenRequest
from lsp_harness.engine.decode.scheduler import Scheduler
from lsp_harness.engine.embed.embedder import Embedder
from lsp_harness.engine.meter import EngineLoad, Meter
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import Chunk, Continuation, Infill
from lsp_harness.process.offload import offload

Json = dict[str, Any]
T = TypeVar("T")
SHORT_TEXT_CHARS = 20_000
"""A text up to this length is tokenized on the event loop, which takes about two milliseconds."""
MAX_CHARS_PER_TOKEN = 128
"""Length of the longest token, a run of blanks."""


async def offload_long_text(function: Callable[[], T], chars: int) -> T:
    """Return the result of a function that reads `chars` characters. A long text is read in a thread."""
    return await offload(chars, function, limit=SHORT_TEXT_CHARS)


class EngineHost:
    """The language model and the embedding model behind the HTTP routes.

    Args:
        model: The language model, its caches and its step costs.
        scheduler: Runs requests on the language model.
        embedder: Runs requests on the embedding model.
        meter: The counters.
        name: The name of the language model for clients.
        order: The order of a fill-in-the-middle prompt that suits the model.
        facts: Further fields of `/props`.
    """

    def __init__(
        self,
        model: ModelRuntime,
        scheduler: Scheduler,
        embedder: Embedder,
        meter: Meter,
        *,
        name: str,
        order: FimOrder,
        facts: Json,
    ) -> None:
        self.model = model
        self.vocabulary = model.llama.vocabulary
        self.scheduler = scheduler
        self.embedder = embedder
        self.meter = meter
        self.name = name
        self.order: FimOrder = order
        self.facts = facts
        self.last_used_s = monotonic()
        self.context_length = model.kv.context_length
        """Number of tokens that a prompt and its answers may have together."""

    @property
    def silent_s(self) -> float:
        """Seconds without a sign of life from a thread that has work, with either model."""
        return max(self.scheduler.silent_s, self.embedder.silent_s)

    def props(self) -> Json:
        """Return the content of `/props`: the fields of llama-server and our own."""
        return {
            "model_alias": self.name,
            "default_generation_settings": {"n_ctx": self.context_length},
            "total_slots": self.model.llama.n_seq,
            "pid": os.getpid(),
            "fim_order": self.order,
            "fim_tokens": self.vocabulary.fim_tokens,
            "opening": len(self.vocabulary.bos_tokens),
            "pending": self.scheduler.pending,
            "tokens_generated_total": self.model.llama.generated_tokens,
            "curve": self.model.step_cost.props(),
            "kv": self._kv_props(),
            "residents": self.cached_sequences(),
            "totals": self.meter.totals(),
            "features": self._list_features(),
            "embedding": {"model": self.embedder.name, "dimensions": self.embedder.dimensions},
            **self.facts,
        }

    def cached_sequences(self) -> list[Json]:
        """Return the sequences in the cells and in host memory, the newest first, in the form of `/slots`."""
        in_host = list(self.model.host_cache.sequences) if self.model.host_cache else []
        sequences = sorted([*self.model.kv.sequences, *in_host], key=lambda sequence: -sequence.last_used_s)
        return [
            {
                "client": sequence.client,
                "tokens": len(sequence.tokens),
                "age_s": round(monotonic() - sequence.last_used_s, 1),
                "busy": isinstance(sequence, Slot) and sequence.is_busy,
                "parked": isinstance(sequence, HostSequence),
                "persist": sequence.persist,
            }
            for sequence in sequences
        ]

    def current_load(self) -> EngineLoad:
        """Return what the engine holds now, for `/metrics`."""
        kv, host_cache = self.model.kv, self.model.host_cache
        return EngineLoad(
            pending=self.scheduler.pending,
            sequences=len(kv.sequences) + (len(host_cache.sequences) if host_cache else 0),
            cells_used=kv.used_cells,
            cells_total=self.model.llama.n_ctx,
            host_tokens=host_cache.used_tokens if host_cache else 0,
            texts_pending=self.embedder.pending,
        )

    async def submit(self, request: Continuation | Infill, order: FimOrder | None = None) -> AsyncIterator[Chunk]:
        """Tokenize a request and queue it.

        Args:
            request: The request.
            order: The order of a fill-in-the-middle prompt; None for the one that suits the model.

        Returns:
            The chunks of the answer.

        Raises:
            EngineRefused: The request cannot be tokenized or is too long.
        """
        if isinstance(request, Infill):
            prompts = (request.context, *request.shorter)
            texts = (
                text
                for prompt in prompts
                for text in (prompt.prefix, prompt.suffix, *(text for _, text in prompt.extra))
            )
            tokenized = await self.process_texts(
                lambda: tokenize_infill(self.vocabulary, request, order or self.order), *texts
            )
            return self.scheduler.submit(tokenized, request.priority)
        tokenized = TokenRequest(
            (Prompt(await self.tokenize_prompt(request.prompt)),),
            request.sampling,
            request.owner,
            cache_reuse=request.cache_reuse or 0,
        )
        return self.scheduler.submit(tokenized, request.priority)

    async def format_chat(self, messages: Sequence[tuple[str, str]]) -> str:
        """Return the prompt of a conversation of (role, content) by the chat template of the model."""
        template = self.model.llama.chat_template
        return await self.process_texts(lambda: template.render(messages), *(content for _, content in messages))

    async def process_texts(self, function: Callable[[], T], *texts: str) -> T:
        """Return the result of a function that reads the texts of a prompt.

        Raises:
            EngineRefused: The texts are too long, whatever their tokens are.
        """
        chars = sum(map(len, texts))
        if chars > MAX_CHARS_PER_TOKEN * self.context_length:
            raise EngineRefused(
                f"{chars:,} characters do not fit into the {self.context_length:,} tokens of model.context_length"
            )
        return await offload_long_text(function, chars)

    async def tokenize_prompt(self, prompt: str | tuple[int | str, ...]) -> list[int]:
        """Return the tokens of a prompt that may mix texts and tokens.

        If it begins with a text, it gets the token for the beginning of a text, where the model has one.

        Raises:
            EngineRefused: The prompt is empty or too long, or a token is not in the vocabulary.
        """
        parts = (prompt,) if isinstance(prompt, str) else prompt
        texts = [part for part in parts if isinstance(part, str)]
        return await self.process_texts(lambda: self._tokenize_parts(parts), *texts)

    def _tokenize_parts(self, parts: tuple[int | str, ...]) -> list[int]:
        tokens: list[int] = []
        for part in parts:
            if isinstance(part, str):
                tokens += self.vocabulary.tokenize(part, special=True)
            elif 0 <= part < self.vocabulary.size:
                tokens.append(part)
            else:
                raise EngineRefused(f"token {part} is not in this model's vocabulary")
        if not tokens:
            raise EngineRefused("the prompt is empty")
        bos_tokens = self.vocabulary.bos_tokens if isinstance(parts[0], str) else ()
        # A chat template may have written the token already.
        return tokens if tuple(tokens[: len(bos_tokens)]) == bos_tokens else [*bos_tokens, *tokens]

    def _list_features(self) -> Json:
        """Return the features that depend on the model and the settings."""
        can_truncate = self.model.kv.can_truncate
        can_infill = min(self.vocabulary.fim_tokens[name] for name in ("pre", "suf", "mid")) >= 0
        return {
            "infill": can_infill,
            "heal": can_infill,
            "shorter": can_infill,
            "lookup": can_truncate,
            "persist": self.model.disk_cache is not None,
            "shift": self.model.kv_shift is not None,
        }

    def _kv_props(self) -> Json:
        """Return the field `kv` of `/props`."""
        kv, host_cache, disk_cache = self.model.kv, self.model.host_cache, self.model.disk_cache
        props: Json = {"cells": self.model.llama.n_ctx, "hot": kv.fast_cells, "used": kv.used_cells}
        props["parked"] = host_cache.used_tokens if host_cache else 0
        props["evicted"] = host_cache.eviction_count if host_cache else kv.eviction_count
        if disk_cache:
            props |= {"saved": disk_cache.written_count, "restored": disk_cache.restored_count}
        return props
