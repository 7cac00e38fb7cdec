"""The vectors of one folder's code, and the search for the texts that are nearest to a query.

The vectors are made in the background while an engine runs anyway, or all at once by a command. Without an embedding
model, search uses names and words alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

from lsp_harness.errors import HarnessError, StoreDamaged, StoreError
from lsp_harness.harness.indexes.folder_index import FolderIndex
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe
from lsp_harness.inference.request import Priority

BATCH_SIZE = 8
"""Texts that are embedded together. An interactive request waits for one of them at most."""
QUERY_TIMEOUT_S = 0.5
"""Time to embed and search a query. An edit that the user waits for then goes on without the result."""
MAX_NEAREST_TEXTS = 50
RETRY_INTERVAL_S = 60.0
"""Time before an engine that cannot embed is tried again."""

T = TypeVar("T")


class EmbeddingEngine(Protocol):
    """An engine that makes vectors."""

    def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> Awaitable[list[list[float]]]:
        """Return a vector of length 1 for each text, which is cut to `max_tokens` tokens."""
        ...


def is_made_by(vectors: Vectors, recipe: EmbeddingRecipe) -> bool:
    """Return whether there are vectors that this recipe made."""
    model = vectors.read_model()
    return model is not None and model[0] == recipe.name


async def find_nearest_texts(
    vectors: Vectors, engine: EmbeddingEngine, recipe: EmbeddingRecipe, query: str, timeout_s: float
) -> list[bytes]:
    """Return the digests of the texts that are nearest to a query, or nothing without vectors of this recipe.

    Raises:
        TimeoutError: The engine did not embed the query within `timeout_s`.
        HarnessError: The engine cannot embed, or the vectors cannot be read.
    """
    if not is_made_by(vectors, recipe):
        return []
    async with asyncio.timeout(timeout_s):
        query_vector = await _embed_query(engine, recipe, query)
    return _read_nearest(vectors, recipe, query_vector)


async def _embed_query(engine: EmbeddingEngine, recipe: EmbeddingRecipe, query: str) -> list[float]:
    [vector] = await engine.embed([recipe.query_prefix + query], max_tokens=recipe.tokens, priority="interactive")
    return vector


def _read_nearest(vectors: Vectors, recipe: EmbeddingRecipe, query_vector: Sequence[float]) -> list[bytes]:
    # another process may have replaced the vectors meanwhile
    return vectors.find_nearest(query_vector, MAX_NEAREST_TEXTS) if is_made_by(vectors, recipe) else []


async def embed_texts(
    engine: EmbeddingEngine, recipe: EmbeddingRecipe, texts: Mapping[bytes, str]
) -> dict[bytes, list[float]]:
    """Return a vector for each text of an index, by the digest of the text."""
    prefixed = [recipe.document_prefix + text for text in texts.values()]
    return dict(zip(texts, await engine.embed(prefixed, max_tokens=recipe.tokens), strict=True))


def find_unembedded(digests: Sequence[bytes], vectors: Vectors, recipe: EmbeddingRecipe) -> list[bytes]:
    """Return the digests of the texts that have no vector of this recipe yet, in the same order.

    Vectors that cannot be read are removed.
    """
    try:
        stored = set(vectors.read_digests().values()) if is_made_by(vectors, recipe) else set[bytes]()
    except StoreDamaged:
        vectors.remove()
        stored = set[bytes]()
    return [digest for digest in digests if digest not in stored]


class EmbeddingIndex:
    """Makes the vectors of one folder in the background, and searches them."""

    def __init__(
        self, folder: FolderIndex, engine: Callable[[], EmbeddingEngine], recipe: Callable[[], EmbeddingRecipe]
    ) -> None:
        """Open the vectors of a folder.

        Args:
            folder: The index of the folder.
            engine: Returns the present engine. It is called for each batch.
            recipe: Returns the present recipe. It is called in a thread, before and after each batch.
        """
        self._folder = folder
        self._engine = engine
        self._recipe = recipe
        self._uri = folder.root.as_uri()
        self._vectors = Vectors(folder.place.folder)
        self._task: asyncio.Task[None] | None = None
        self._is_requested = False
        """Whether `start` was called since the task began its present round."""
        self._retry_at = 0.0
        self.problem = ""
        """Why new texts have no vectors; empty if no problem is known."""

    def start(self) -> bool:
        """Embed new texts in the background.

        Returns:
            False if the engine could not embed a moment ago. Then nothing is started.
        """
        if monotonic() < self._retry_at:
            return False
        self._is_requested = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._embed_all(), name=f"embedding {self._folder.root}")
        return True

    async def find_nearest(self, query: str) -> list[bytes]:
        """Return the digests of the texts that are nearest to a query.

        The result is empty if there are no vectors, or if the engine does not answer within `QUERY_TIMEOUT_S`.
        """
        with suppress(HarnessError, TimeoutError):
            async with asyncio.timeout(QUERY_TIMEOUT_S):
                recipe = await self._read_recipe()
                if await self._run(lambda: is_made_by(self._vectors, recipe), False):
                    query_vector = await _embed_query(self._engine(), recipe, query)
                    return await self._run(lambda: _read_nearest(self._vectors, recipe, query_vector), [])
        return []

    async def wait(self) -> None:
        """Wait for the background task, for callers that get no events."""
        if self._task:
            await asyncio.wait({self._task})

    async def aclose(self) -> None:
        """Stop the background task and close the vectors."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._vectors.close()

    async def _embed_all(self) -> None:
        while self._is_requested:
            self._is_requested = False
            await self._embed_new()

    async def _embed_new(self) -> None:
        attempted: set[bytes] = set()
        try:
            while new := [digest for digest in await self._find_unembedded() if digest not in attempted]:
                for start in range(0, len(new), BATCH_SIZE):
                    await self._embed_batch(new[start : start + BATCH_SIZE])
                self.problem = ""
                # the index may have changed meanwhile
                attempted |= set(new)
        except HarnessError as error:
            self.problem = error.message
            # whoever called `start` meanwhile may have repaired the problem
            self._retry_at = 0.0 if self._is_requested else monotonic() + RETRY_INTERVAL_S

    async def _embed_batch(self, digests: Sequence[bytes]) -> None:
        texts = await self._folder.query.embedding_texts(self._uri, digests)
        if not texts:
            return
        recipe = await self._read_recipe()
        vectors = await embed_texts(self._engine(), recipe, texts)
        if await self._read_recipe() != recipe:
            # the settings or the model file changed, and the engine may have used either
            return

        def add(text_count: int) -> bool:
            self._vectors.add(recipe.name, vectors, text_count)
            return True

        text_count = await self._folder.query.count_texts(self._uri)
        if not await self._run(partial(add, text_count), False):
            raise StoreError("the vectors cannot be saved")

    async def _read_recipe(self) -> EmbeddingRecipe:
        # this may read the head of a large file
        return await asyncio.to_thread(self._recipe)

    async def _find_unembedded(self) -> list[bytes]:
        recipe = await self._read_recipe()
        digests = await self._folder.query.text_digests(self._uri)
        return await self._run(lambda: find_unembedded(digests, self._vectors, recipe), [])

    async def _run(self, function: Callable[[], T], default: T) -> T:
        """Return the result of a function that uses the vectors. It runs in the thread of slow questions."""
        return await self._folder.run(self._uri, lambda _: function(), default, is_slow=True)
