"""The embedding model in the process of a command: a search must not load the language model.

It is the encoder of the engine, so it makes the same vectors. Loading it with the first text takes a quarter of a
second.
"""

from collections.abc import Sequence
from contextlib import aclosing
from functools import partial

from lsp_harness.config.schema import Index
from lsp_harness.engine.embed.embedder import Embedder, load_encoder
from lsp_harness.inference.embedding_recipe import pooling_or_auto
from lsp_harness.inference.embedding_request import EmbeddingRequest
from lsp_harness.inference.request import Priority


class InProcessEmbedder:
    """An embedder without an engine process.

    Args:
        settings: The section `index` of the settings, which names the model.
    """

    def __init__(self, settings: Index) -> None:
        load = partial(load_encoder, pooling=pooling_or_auto(settings), silent=True)
        self._embedder = Embedder(settings.embedding_model, is_busy=lambda: False, load=load)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """Return one vector for each text.

        Args:
            texts: The texts.
            max_tokens: Number of tokens of a text that are used.
            priority: The class of the request.

        Raises:
            ModelError: The model is not available.
        """
        request = EmbeddingRequest(tuple(texts), max_tokens, priority)
        async with aclosing(self._embedder.embed(request)) as embedded_texts:
            return [embedded.vector async for embedded in embedded_texts]

    def close(self) -> None:
        """Wait for the text in progress and free the model."""
        self._embedder.close()
