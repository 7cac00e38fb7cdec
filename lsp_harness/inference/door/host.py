"""What every route of the door can use: the model, its scheduler, and what is known of both."""

import os
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.decode.fim import Order, assemble
from lsp_harness.inference.decode.generate import Model, Prompt, Work
from lsp_harness.inference.decode.kv import Slot
from lsp_harness.inference.decode.parked import Parked
from lsp_harness.inference.decode.scheduler import Scheduler
from lsp_harness.inference.embed.embedder import Embedder
from lsp_harness.inference.meter import Load, Meter
from lsp_harness.inference.request import Chunk, Continuation, Infill

Json = dict[str, Any]


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

    def props(self) -> Json:
        """What `/props` says: llama-server's fields, and ours."""
        return {
            "model_alias": self.name,
            "default_generation_settings": {"n_ctx": self.llama.n_ctx},
            "total_slots": self.llama.n_seq,
            "pid": os.getpid(),
            "fim_order": self.order,
            "fim_tokens": self.llama.fim,
            "pending": self.scheduler.pending,
            "tokens_generated_total": self.llama.tokens_generated,
            "curve": self.model.machine.facts(),
            "kv": self._kv(),
            "residents": self.residents(),
            "totals": self.meter.totals(),
            "embedding": {"model": self.embedder.name, "dimensions": self.embedder.dimensions},
            **self.facts,
        }

    def residents(self) -> list[Json]:
        """The resident sequences, newest first."""
        slots = [slot for slot in list(self.model.kv.slots) if slot.tokens]
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
            for held in sorted([*slots, *parked], key=lambda held: -held.used)
        ]

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
        sequences = sum(bool(slot.tokens) for slot in list(kv.slots)) + (len(lot.sequences) if lot else 0)
        aside = lot.used if lot else 0
        return Load(self.scheduler.pending, sequences, kv.used, self.llama.n_ctx, aside, self.embedder.pending)

    def ask(self, request: Continuation | Infill, order: Order | None = None) -> AsyncIterator[Chunk]:
        """Queue a request; its chunks. Raises EngineRefused when it cannot be understood."""
        if isinstance(request, Infill):
            work = assemble(self.llama, request, order or self.order)
        else:
            work = Work((Prompt(self.tokens(request.prompt)),), request.sampling, request.owner)
        return self.scheduler.submit(work, request.priority)

    def tokens(self, prompt: str | tuple[int | str, ...]) -> list[int]:
        """Tokens of a prompt that may mix texts and tokens. One that begins with text gets the model's own beginning."""
        parts = (prompt,) if isinstance(prompt, str) else prompt
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
