"""Vectors of what the workspace's functions are about: made in the background while the engine is in use anyway, or all at once
by a command, and asked for a query's nearest within a time limit. Where there is no model for them search goes by names and
words alone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Protocol

from lsp_harness.errors import HarnessError, StoreDamaged, StoreError
from lsp_harness.harness.indexes.folder_index import Folder
from lsp_harness.index.builder.file_extract import embedding_text
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe
from lsp_harness.inference.request import Priority
from lsp_harness.store.database import Reader, remove_database

BATCH = 8
"""Texts that are embedded at a time: what is asked meanwhile waits for one of them."""
PATIENCE_SECONDS = 0.5
"""After which who waits for an edit goes without."""
NEAREST = 50
AGAIN_SECONDS = 60.0
"""Before an engine that cannot embed is asked again."""


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
                recipe, ask = await self._now(), self._folder.ask
                if await ask(lambda _: made_by(self._vectors, recipe), False, slow=True):
                    vector = await _asked(self._engine(), recipe, query)
                    return await ask(lambda _: _nearest(self._vectors, recipe, vector), [], slow=True)
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
        texts = await self._folder.ask(lambda reader: texts_of(reader, digests), {}, slow=True)
        if texts:
            recipe = await self._now()
            vectors = await made_of(self._engine(), recipe, texts)
            if await self._now() != recipe:
                # other settings, or another file: nobody knows which of the two the engine has taken
                return

            def put(reader: Reader) -> bool:
                self._vectors.add(recipe.name, vectors, living(reader))
                return True

            if not await self._folder.ask(put, False, slow=True):
                raise StoreError("the vectors cannot be saved")

    async def _now(self) -> EmbeddingRecipe:
        # it may have to read the head of a large file
        return await asyncio.to_thread(self._recipe)

    async def _missing(self) -> list[bytes]:
        recipe = await self._now()
        return await self._folder.ask(lambda reader: missing(reader, self._vectors, recipe), [], slow=True)


def missing(reader: Reader, vectors: Vectors, recipe: EmbeddingRecipe) -> list[bytes]:
    """Digests of the texts that have no such vector yet; what was indexed last comes first."""
    try:
        known = set(vectors.read_digests().values()) if made_by(vectors, recipe) else set[bytes]()
    except StoreDamaged:
        remove_database(vectors.database_path)
        known = set[bytes]()
    rows = reader.rows("SELECT digest FROM chunks WHERE digest != x'' GROUP BY digest ORDER BY max(id) DESC")
    return [digest for (digest,) in rows if digest not in known]


def texts_of(reader: Reader, digests: Sequence[bytes]) -> dict[bytes, str]:
    """The texts that are still there."""
    found: dict[bytes, str] = {}
    for digest in digests:
        sql = "SELECT names, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE digest = ? LIMIT 1"
        if rows := reader.rows(sql, (digest,)):
            found[digest] = embedding_text(*rows[0])
    return found


def living(reader: Reader) -> int:
    """How many texts there are to have a vector."""
    [(count,)] = reader.rows("SELECT count(DISTINCT digest) FROM chunks WHERE digest != x''") or [(0,)]
    return count
