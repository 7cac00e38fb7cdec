"""What every route of the door can use: the model, its scheduler, and what is known of both."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from time import monotonic
from typing import Any, TypeVar

from lsp_harness.engine.decode.fim_prompt import Order, assemble
from lsp_harness.engine.decode.generation import Model, Prompt, Work
from lsp_harness.engine.decode.host_cache import Parked
from lsp_harness.engine.decode.kv_cache import Slot
from lsp_harness.engine.decode.scheduler import Scheduler
from lsp_harness.engine.embed.embedder import Embedder
from lsp_harness.engine.meter import Load, Meter
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import Chunk, Continuation, Infill
from lsp_harness.process.offload import offload

Json = dict[str, Any]
T = TypeVar("T")
SHORT_PROMPT_CHARACTERS = 20_000
"""Characters that are split into tokens at once; it takes about two milliseconds."""
LONGEST_TOKEN = 128
"""Characters of one token at most: runs of blanks are the longest."""


async def apart(make: Callable[[], T], size: int) -> T:
    """Return what `make` makes of a text of `size` characters; other requests go on while it works on a long one."""
    return await offload(size, make, limit=SHORT_PROMPT_CHARACTERS)


class Host:
    """The models behind the door: the one that writes, and the small one that embeds."""

    def __init__(
        self,
        model: Model,
        scheduler: Scheduler,
        embedder: Embedder,
        meter: Meter,
        *,
        name: str,
        order: Order,
        facts: Json,
    ) -> None:
        self.model = model
        self.llama = model.llama
        self.scheduler = scheduler
        self.embedder = embedder
        self.meter = meter
        self.name = name
        self.order: Order = order
        self.facts = facts
        self.last_used = monotonic()
        self.context = model.kv.context
        """Tokens that a prompt and its answers may have together."""

    @property
    def silent_s(self) -> float:
        """Seconds since a thread that has something to do, with either model, gave a sign of it."""
        return max(self.scheduler.silent_s, self.embedder.silent_s)

    def props(self) -> Json:
        """What `/props` says: llama-server's fields, and ours."""
        return {
            "model_alias": self.name,
            "default_generation_settings": {"n_ctx": self.context},
            "total_slots": self.llama.n_seq,
            "pid": os.getpid(),
            "fim_order": self.order,
            "fim_tokens": self.llama.fim,
            "opening": len(self.llama.opening),
            "pending": self.scheduler.pending,
            "tokens_generated_total": self.llama.tokens_generated,
            "curve": self.model.machine.facts(),
            "kv": self._kv(),
            "residents": self.residents(),
            "totals": self.meter.totals(),
            "features": self._features(),
            "embedding": {"model": self.embedder.name, "dimensions": self.embedder.dimensions},
            **self.facts,
        }

    def residents(self) -> list[Json]:
        """The resident sequences, newest first."""
        parked = list(self.model.lot.sequences) if self.model.lot else []
        return [
            {
                "client": held.client,
                "tokens": len(held.tokens),
                "age_s": round(monotonic() - held.used, 1),
                "busy": isinstance(held, Slot) and held.busy,
                "parked": isinstance(held, Parked),
                "persist": held.persist,
            }
            for held in sorted([*self.model.kv.sequences, *parked], key=lambda held: -held.used)
        ]

    def _features(self) -> Json:
        """Those that depend on the model and the settings."""
        cuts = self.model.kv.cuts
        fills = min(self.llama.fim[name] for name in ("pre", "suf", "mid")) >= 0
        return {
            "infill": fills,
            "heal": fills,
            "shorter": fills,
            "lookup": cuts,
            "persist": self.model.saved is not None,
            "shift": self.model.shift is not None,
        }

    def _kv(self) -> Json:
        kv, lot, saved = self.model.kv, self.model.lot, self.model.saved
        known: Json = {"cells": self.llama.n_ctx, "hot": kv.hot, "used": kv.used}
        known["parked"] = lot.used if lot else 0
        known["evicted"] = lot.lost if lot else kv.evicted
        return known | ({"saved": saved.written, "restored": saved.restored} if saved else {})

    def load(self) -> Load:
        """What is held now, for `/metrics`."""
        kv = self.model.kv
        lot = self.model.lot
        sequences = len(kv.sequences) + (len(lot.sequences) if lot else 0)
        aside = lot.used if lot else 0
        return Load(self.scheduler.pending, sequences, kv.used, self.llama.n_ctx, aside, self.embedder.pending)

    async def ask(self, request: Continuation | Infill, order: Order | None = None) -> AsyncIterator[Chunk]:
        """Queue a request; its chunks. Raises EngineRefused when it cannot be understood."""
        if isinstance(request, Infill):
            given = (request.context, *request.shorter)
            texts = (part for it in given for part in (it.prefix, it.suffix, *(text for _, text in it.extra)))
            work = await self.aside(lambda: assemble(self.llama, request, order or self.order), *texts)
            return self.scheduler.submit(work, request.priority)
        work = Work(
            (Prompt(await self.tokens(request.prompt)),),
            request.sampling,
            request.owner,
            cache_reuse=request.cache_reuse or 0,
        )
        return self.scheduler.submit(work, request.priority)

    async def chat(self, messages: Sequence[tuple[str, str]]) -> str:
        """The prompt of a conversation of (role, content), by the model's own template."""
        return await self.aside(lambda: self.llama.chat(messages), *(content for _, content in messages))

    async def aside(self, make: Callable[[], T], *texts: str) -> T:
        """What `make` makes of the texts of a prompt, which are refused unread where no model could take them."""
        size = sum(map(len, texts))
        if size > LONGEST_TOKEN * self.context:
            raise EngineRefused(
                f"{size:,} characters do not fit into the {self.context:,} tokens of model.context_length"
            )
        return await apart(make, size)

    async def tokens(self, prompt: str | tuple[int | str, ...]) -> list[int]:
        """Tokens of a prompt that may mix texts and tokens. One that begins with text gets the model's own beginning."""
        parts = (prompt,) if isinstance(prompt, str) else prompt
        texts = [part for part in parts if isinstance(part, str)]
        return await self.aside(lambda: self._tokens(parts), *texts)

    def _tokens(self, parts: tuple[int | str, ...]) -> list[int]:
        tokens: list[int] = []
        for part in parts:
            if isinstance(part, str):
                tokens += self.llama.tokenize(part, special=True)
            elif 0 <= part < self.llama.n_vocab:
                tokens.append(part)
            else:
                raise EngineRefused(f"token {part} is not in this model's vocabulary")
        if not tokens:
            raise EngineRefused("the prompt is empty")
        opening = self.llama.opening if isinstance(parts[0], str) else ()
        # a chat template may have written it already
        return tokens if tuple(tokens[: len(opening)]) == opening else [*opening, *tokens]
