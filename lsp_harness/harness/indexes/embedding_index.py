"""Vectors of the functions in a workspace folder, for search by meaning.

A server makes them in the background while an engine runs; a command makes all of them at once. A task uses them when
nearly all texts have one: the nearest of a few texts would come before better ones, and the same prompt would find
other code from one moment to the next. The search for the texts that are nearest to a query has a time limit. Without
an embedding model, search uses names and words alone.
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
from lsp_harness.process.background_permit import BackgroundPermit

BATCH_SIZE = 8
"""The number of texts that are embedded at a time. A request that arrives meanwhile waits for one batch."""
QUERY_TIMEOUT_S = 0.5
"""How long an edit waits for the texts that are nearest to its task."""
MAX_NEAREST = 50
MAX_MISSING_SHARE = 0.1
"""Largest share of texts without a vector with which the others are used."""
RETRY_DELAY_S = 60.0
"""The pause after an engine could not embed."""


T = TypeVar("T")


class TextEmbedder(Protocol):
    """The part of an engine that converts texts to vectors."""

    def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> Awaitable[list[list[float]]]: ...


def match_recipe(vectors: Vectors, recipe: EmbeddingRecipe) -> bool:
    """Return whether the stored vectors were made with this recipe. Vectors of two recipes cannot be compared."""
    model = vectors.read_model()
    return model is not None and model[0] == recipe.name


def is_nearly_complete(digests: Sequence[bytes], vectors: Vectors, recipe: EmbeddingRecipe) -> bool:
    """Return whether so many of these texts of an index have a vector of this recipe that a search can use them."""
    missing = len(find_digests_without_vector(digests, vectors, recipe))
    return missing < len(digests) and missing <= MAX_MISSING_SHARE * len(digests)


async def find_nearest_texts(
    vectors: Vectors, engine: TextEmbedder, recipe: EmbeddingRecipe, query: str, timeout_s: float
) -> list[bytes]:
    """Return the digests of the texts that are most like a query, the nearest first.

    The result is empty if there are no vectors of this recipe.

    Raises:
        TimeoutError: The engine did not answer within `timeout_s` seconds.
        HarnessError: The engine failed.
    """
    if not match_recipe(vectors, recipe):
        return []
    async with asyncio.timeout(timeout_s):
        vector = await _embed_query(engine, recipe, query)
    return _read_nearest(vectors, recipe, vector)


async def _embed_query(engine: TextEmbedder, recipe: EmbeddingRecipe, query: str) -> list[float]:
    [vector] = await engine.embed([recipe.query_prefix + query], max_tokens=recipe.tokens, priority="interactive")
    return vector


def _read_nearest(vectors: Vectors, recipe: EmbeddingRecipe, vector: Sequence[float]) -> list[bytes]:
    # Another front end may have replaced the vectors while the query was embedded.
    return vectors.find_nearest(vector, MAX_NEAREST) if match_recipe(vectors, recipe) else []


async def embed_texts(
    engine: TextEmbedder, recipe: EmbeddingRecipe, texts: Mapping[bytes, str]
) -> dict[bytes, list[float]]:
    """Return a vector for each of these texts of an index, by the digest of the text."""
    documents = [recipe.document_prefix + text for text in texts.values()]
    vectors = await engine.embed(documents, max_tokens=recipe.tokens)
    return dict(zip(texts, vectors, strict=True))


class EmbeddingIndex:
    """The vectors of one folder, which a background task keeps up to date.

    Args:
        folder: The index of the folder. It has the texts.
        engine: Returns the engine. It is called for each batch.
        recipe: Returns the recipe of the present settings. It is called before and after each batch.
        background: The permission to embed texts. Each batch waits for it.

    Attributes:
        problem: Why there are no vectors for new texts; empty if no reason is known.
    """

    def __init__(
        self,
        folder: FolderIndex,
        engine: Callable[[], TextEmbedder],
        recipe: Callable[[], EmbeddingRecipe],
        background: BackgroundPermit | None = None,
    ) -> None:
        self._folder = folder
        self._engine = engine
        self._recipe = recipe
        self._background = background or BackgroundPermit()
        self._uri = folder.root.as_uri()
        self._vectors = Vectors(folder.place.folder)
        self._task: asyncio.Task[None] | None = None
        self._is_requested = False
        """Whether an update was requested after the task began to look for new texts."""
        self._retry_time_s = 0.0
        """The value of the clock before which no update starts."""
        self.problem = ""

    def request_update(self) -> bool:
        """Start to embed new texts, if there are any.

        Returns:
            Whether the index looks for new texts. It does not do so in the pause after an engine could not embed.
        """
        if monotonic() < self._retry_time_s:
            return False
        self._is_requested = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._update_all(), name=f"embedding {self._folder.root}")
        return True

    async def find_nearest(self, query: str) -> list[bytes]:
        """Return the digests of the texts that are most like a query, the nearest first.

        The result is empty if there are no vectors, or if the engine fails or does not answer in time.
        """
        with suppress(HarnessError, TimeoutError):
            async with asyncio.timeout(QUERY_TIMEOUT_S):
                recipe = await self._read_recipe()
                digests = await self._folder.query.text_digests(self._uri)
                if await self._read(lambda: is_nearly_complete(digests, self._vectors, recipe), False):
                    vector = await _embed_query(self._engine(), recipe, query)
                    return await self._read(lambda: _read_nearest(self._vectors, recipe, vector), [])
        return []

    async def wait_until_idle(self) -> None:
        """Wait for the update under way, for callers that have no event to wait for."""
        if self._task:
            await asyncio.wait({self._task})

    async def aclose(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._vectors.close()

    async def _update_all(self) -> None:
        while self._is_requested:
            self._is_requested = False
            await self._update()

    async def _update(self) -> None:
        tried_digests: set[bytes] = set()
        try:
            while new := [text for text in await self._read_digests_to_embed() if text not in tried_digests]:
                for start in range(0, len(new), BATCH_SIZE):
                    await self._embed_batch(new[start : start + BATCH_SIZE])
                self.problem = ""
                # The texts of the index may have changed during the update.
                tried_digests |= set(new)
        except HarnessError as error:
            # A request during the update may follow a change that solves the problem, so there is no pause then.
            self.problem = error.message
            self._retry_time_s = 0.0 if self._is_requested else monotonic() + RETRY_DELAY_S

    async def _embed_batch(self, digests: Sequence[bytes]) -> None:
        # A user waits for the verdict about an edit, and for no vector. Its tests would have to share the cores.
        await self._background.wait(is_after_checks=True)
        texts = await self._folder.query.embedding_texts(self._uri, digests)
        if texts:
            recipe = await self._read_recipe()
            vectors = await embed_texts(self._engine(), recipe, texts)
            if await self._read_recipe() != recipe:
                # The settings or the model file changed, and the engine may have used either version.
                return

            def add(text_count: int) -> bool:
                self._vectors.add(recipe.name, vectors, text_count)
                return True

            text_count = await self._folder.query.count_texts(self._uri)
            if not await self._read(partial(add, text_count), False):
                raise StoreError("the vectors cannot be saved")

    async def _read_recipe(self) -> EmbeddingRecipe:
        # This may read the start of a large file.
        return await asyncio.to_thread(self._recipe)

    async def _read_digests_to_embed(self) -> list[bytes]:
        recipe = await self._read_recipe()
        digests = await self._folder.query.text_digests(self._uri)
        return await self._read(lambda: find_digests_without_vector(digests, self._vectors, recipe), [])

    async def _read(self, read: Callable[[], T], default: T) -> T:
        """Return the result of `read`, which uses the vectors, in the thread of slow questions to the index."""
        return await self._folder.run(self._uri, lambda _: read(), default, is_slow=True)


def find_digests_without_vector(digests: Sequence[bytes], vectors: Vectors, recipe: EmbeddingRecipe) -> list[bytes]:
    """Return the digests of the texts that have no vector of this recipe yet, in the same order.

    Vectors that cannot be read are removed.
    """
    try:
        stored = set(vectors.read_digests().values()) if match_recipe(vectors, recipe) else set[bytes]()
    except StoreDamaged:
        vectors.remove()
        stored = set[bytes]()
    return [digest for digest in digests if digest not in stored]
