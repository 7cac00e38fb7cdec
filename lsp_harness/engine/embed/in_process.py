"""The embedding model by itself in this process, for commands: a search is no reason to load the model that answers.

It is the engine's encoder, so its vectors are the engine's. It is loaded with the first text, in a quarter of a second.
"""

from collections.abc import Sequence
from contextlib import aclosing
from functools import partial

from lsp_harness.config.schema import Index
from lsp_harness.engine.embed.embedder import Embedder, load
from lsp_harness.inference.embedding_recipe import pooling_or_auto
from lsp_harness.inference.embedding_request import EmbeddingRequest
from lsp_harness.inference.request import Priority


class Alone:
    """Embeds as an engine does. Raises ModelError where the model cannot be had."""

    def __init__(self, settings: Index) -> None:
        encoder = partial(load, pooling=pooling_or_auto(settings), silent=True)
        self._embedder = Embedder(settings.embedding_model, busy=lambda: False, load=encoder)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        wanted = EmbeddingRequest(tuple(texts), max_tokens, priority)
        async with aclosing(self._embedder.embed(wanted)) as vectors:
            return [vector async for vector, _ in vectors]

    def close(self) -> None:
        """Waits for the text under way."""
        self._embedder.close()
