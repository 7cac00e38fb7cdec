"""Vectors of what the workspace's functions are about: made in the background while the engine is in use anyway, or all at once
by a command, and asked for a query's nearest within a time limit. Where there is no model for them search goes by names and
words alone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

from lsp_harness.errors import HarnessError, StoreDamaged, StoreError
from lsp_harness.harness.indexes.folder_index import Folder
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe
from lsp_harness.inference.request import Priority

BATCH = 8
"""Texts that are embedded at a time: what is asked meanwhile waits for one of them."""
PATIENCE_SECONDS = 0.5
"""After which who waits for an edit goes without."""
NEAREST = 50
AGAIN_SECONDS = 60.0
"""Before an engine that cannot embed is asked again."""


T = TypeVar("T")


class Embeds(Protocol):
    """What is needed of an engine."""

    def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> Awaitable[list[list[float]]]: ...


def made_by(vectors: Vectors, recipe: EmbeddingRecipe) -> bool:
    """Whether there are vectors that were made so."""
    found = vectors.read_model()
    return found is not None and found[0] == recipe.name


async def near(vectors: Vectors, engine: Embeds, recipe: EmbeddingRecipe, query: str, patience: float) -> list[bytes]:
    """Digests of the texts that are most like a query; none where there are no such vectors. Raises TimeoutError after `patience`
    seconds, and what the engine raises."""
    if not made_by(vectors, recipe):
        return []
    async with asyncio.timeout(patience):
        vector = await _asked(engine, recipe, query)
    return _nearest(vectors, recipe, vector)


async def _asked(engine: Embeds, recipe: EmbeddingRecipe, query: str) -> list[float]:
    [vector] = await engine.embed([recipe.query_prefix + query], max_tokens=recipe.tokens, priority="interactive")
    return vector


def _nearest(vectors: Vectors, recipe: EmbeddingRecipe, vector: Sequence[float]) -> list[bytes]:
    # another front end may have put others in their place meanwhile
    return vectors.find_nearest(vector, NEAREST) if made_by(vectors, recipe) else []


async def made_of(engine: Embeds, recipe: EmbeddingRecipe, texts: Mapping[bytes, str]) -> dict[bytes, list[float]]:
    """A vector for each of these texts of an index."""
    prefixed = [recipe.document_prefix + text for text in texts.values()]
    made = await engine.embed(prefixed, max_tokens=recipe.tokens)
    return dict(zip(texts, made, strict=True))


class Meaning:
    """Of one folder. `engine` is asked for with every batch, and before and after it the `recipe`."""

    def __init__(self, folder: Folder, engine: Callable[[], Embeds], recipe: Callable[[], EmbeddingRecipe]) -> None:
        self._folder = folder
        self._engine = engine
        self._recipe = recipe
        self._uri = folder.root.as_uri()
        self._vectors = Vectors(folder.place.folder)
        self._task: asyncio.Task[None] | None = None
        self._asked = False
        """Since what is under way began to look."""
        self._again = 0.0
        self.missing = ""
        """Why there are no vectors for what is new; empty where there is no reason known."""

    def look(self) -> bool:
        """There may be something new to embed. Whether that is looked for: not while an engine that cannot embed is left alone."""
        if monotonic() < self._again:
            return False
        self._asked = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._embed_all(), name=f"embedding {self._folder.root}")
        return True

    async def near(self, query: str) -> list[bytes]:
        """Digests of the texts that are most like a query; none where there are no vectors, or nobody says so in time."""
        with suppress(HarnessError, TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                recipe = await self._now()
                if await self._read(lambda: made_by(self._vectors, recipe), False):
                    vector = await _asked(self._engine(), recipe, query)
                    return await self._read(lambda: _nearest(self._vectors, recipe, vector), [])
        return []

    async def settled(self) -> None:
        """Wait for what is under way, for callers that have no events to wait for."""
        if self._task:
            await asyncio.wait({self._task})

    async def aclose(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._vectors.close()

    async def _embed_all(self) -> None:
        while self._asked:
            self._asked = False
            await self._embed_new()

    async def _embed_new(self) -> None:
        tried: set[bytes] = set()
        try:
            while new := [text for text in await self._missing() if text not in tried]:
                for at in range(0, len(new), BATCH):
                    await self._embed(new[at : at + BATCH])
                self.missing = ""
                # texts may have gone meanwhile, and others come
                tried |= set(new)
        except HarnessError as error:
            # who has asked meanwhile may have changed what is wrong
            self.missing, self._again = error.message, 0.0 if self._asked else monotonic() + AGAIN_SECONDS

    async def _embed(self, digests: Sequence[bytes]) -> None:
        texts = await self._folder.query.embedding_texts(self._uri, digests)
        if texts:
            recipe = await self._now()
            vectors = await made_of(self._engine(), recipe, texts)
            if await self._now() != recipe:
                # other settings, or another file: nobody knows which of the two the engine has taken
                return

            def add(text_count: int) -> bool:
                self._vectors.add(recipe.name, vectors, text_count)
                return True

            text_count = await self._folder.query.count_texts(self._uri)
            if not await self._read(partial(add, text_count), False):
                raise StoreError("the vectors cannot be saved")

    async def _now(self) -> EmbeddingRecipe:
        # it may have to read the head of a large file
        return await asyncio.to_thread(self._recipe)

    async def _missing(self) -> list[bytes]:
        recipe = await self._now()
        digests = await self._folder.query.text_digests(self._uri)
        return await self._read(lambda: without_vector(digests, self._vectors, recipe), [])

    async def _read(self, read: Callable[[], T], default: T) -> T:
        """Return the result of `read`, which uses the vectors, in the thread of slow questions to the index."""
        return await self._folder.run(self._uri, lambda _: read(), default, is_slow=True)


def without_vector(digests: Sequence[bytes], vectors: Vectors, recipe: EmbeddingRecipe) -> list[bytes]:
    """Return the digests of the texts that have no vector of this recipe yet, in the same order.

    Vectors that cannot be read are removed.
    """
    try:
        stored = set(vectors.read_digests().values()) if made_by(vectors, recipe) else set[bytes]()
    except StoreDamaged:
        vectors.remove()
        stored = set[bytes]()
    return [digest for digest in digests if digest not in stored]
