"""Tests of the vectors of a folder, and of the search for near texts. The scripted engine compares shared words."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.errors import ModelMissing
from lsp_harness.harness.indexes.embedding_index import BATCH_SIZE, RETRY_DELAY_S, EmbeddingIndex, find_nearest_texts
from lsp_harness.harness.indexes.folder_index import FolderIndex
from lsp_harness.index.query.code_search import SearchRequest
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe
from lsp_harness.inference.scripted_engine import EMBEDDING_DIMENSIONS, ScriptedEngine
from lsp_harness.process.background_permit import BackgroundPermit
from tests.harness.test_background import FakeLoad

pytestmark = pytest.mark.process

SMALL = EmbeddingRecipe("small", "key")
WAIT = 30.0
SOURCE = "".join(f"def work_{n}():\n    return {n}\n\n\n" for n in range(BATCH_SIZE + 3))


class CountingEngine(ScriptedEngine):
    """An engine that counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__([])
        self.embedded: list[str] = []
        self.asked_for: list[str] = []
        self.most: set[int] = set()
        self.error: Exception | None = None

    async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
        if self.error:
            raise self.error
        (self.asked_for if priority == "interactive" else self.embedded).extend(texts)
        self.most.add(max_tokens)
        return await super().embed(texts, max_tokens=max_tokens)


@pytest.fixture
async def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text(SOURCE + "def greet(name):\n    return 'hello ' + name\n")
    ready = asyncio.Event()
    made = FolderIndex(root, lambda _, said: ready.set() if said["state"] == "ready" else None, follow=True)
    await ready.wait()
    made.news = ready  # type: ignore[attr-defined]
    yield made
    await made.aclose()


async def update_text(folder: FolderIndex, text: str) -> None:
    folder.news.clear()  # type: ignore[attr-defined]
    (folder.root / "a.py").write_text(text)
    while not [one async for one in _read_names(folder) if one in text.split("def ")[-1]]:
        await folder.news.wait()  # type: ignore[attr-defined]
        folder.news.clear()  # type: ignore[attr-defined]


async def _read_names(folder: FolderIndex):
    for (name,) in await folder.run("", lambda view: view.reader.rows("SELECT name FROM symbols"), []):
        yield name


async def test_each_text_is_embedded_once(folder: FolderIndex):
    engine = CountingEngine()
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert len(engine.embedded) == BATCH_SIZE + 4
    assert "greet\ndef greet(name):\n    return 'hello ' + name\n" in engine.embedded
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert len(engine.embedded) == BATCH_SIZE + 4

    # what moved is not new
    await update_text(folder, "import os\n" + SOURCE + "def other():\n    return 1\n")
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert engine.embedded[BATCH_SIZE + 4 :] == ["other\ndef other():\n    return 1\n"]
    await embedding_index.aclose()


async def test_near_code_is_found_without_a_common_name(folder: FolderIndex):
    engine = CountingEngine()
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    vectors = Vectors(folder.place.folder)
    digests = await find_nearest_texts(vectors, engine, SMALL, "return 'hello '", WAIT)
    hits = await folder.query.search("", SearchRequest("zzz", 1, digests))
    assert [(hit.symbol, hit.reasons) for hit in hits] == [("greet", ("meaning 1",))]
    assert await find_nearest_texts(vectors, engine, replace(SMALL, key="other"), "return 'hello '", WAIT) == []
    vectors.close()
    await embedding_index.aclose()


async def test_texts_and_queries_are_sent_with_their_prefixes(folder: FolderIndex):
    engine, recipe = CountingEngine(), replace(SMALL, query_prefix="find: ", document_prefix="code: ", tokens=40)
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: recipe)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert "code: greet\ndef greet(name):\n    return 'hello ' + name\n" in engine.embedded
    assert all(text.startswith("code: ") for text in engine.embedded)
    with closing(Vectors(folder.place.folder)) as vectors:
        [greet, *_] = await find_nearest_texts(vectors, engine, recipe, "greet return 'hello '", WAIT)
        assert (
            vectors.read_digests()[next(row for row, text in vectors.read_digests().items() if text == greet)] == greet
        )
    assert (engine.asked_for, engine.most) == (["find: greet return 'hello '"], {40})
    await embedding_index.aclose()


async def test_vectors_of_two_ways_are_never_mixed(folder: FolderIndex):
    """Another file, prefix, pooling or length is another key: all texts are embedded again, without old vectors."""
    engine, ways = CountingEngine(), [SMALL, replace(SMALL, key="of another file"), replace(SMALL, model="other")]
    now = [SMALL]
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: now[0])
    with closing(Vectors(folder.place.folder)) as vectors:
        for n, way in enumerate(ways):
            now[0] = way
            assert await find_nearest_texts(vectors, engine, way, "return 'hello '", WAIT) == []
            embedding_index.request_update()
            await embedding_index.wait_until_idle()
            assert len(engine.embedded) == (n + 1) * (BATCH_SIZE + 4)
            assert vectors.read_model() == (way.name, EMBEDDING_DIMENSIONS)
            assert len(vectors.read_digests()) == BATCH_SIZE + 4
            assert await find_nearest_texts(vectors, engine, way, "return 'hello '", WAIT)
            for other in set(ways) - {way}:
                assert await find_nearest_texts(vectors, engine, other, "return 'hello '", WAIT) == []
    await embedding_index.aclose()


async def test_vectors_that_are_replaced_during_a_search_are_not_compared(folder: FolderIndex):
    class Replaced(CountingEngine):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            made = await super().embed(texts, max_tokens=max_tokens)
            if priority == "interactive":
                with closing(Vectors(folder.place.folder)) as others:
                    others.add("others key", {b"x": made[0]}, text_count=1)
            return made

    engine = Replaced()
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    with closing(Vectors(folder.place.folder)) as vectors:
        assert await find_nearest_texts(vectors, engine, SMALL, "return 'hello '", WAIT) == []
        assert vectors.read_model() == ("others key", EMBEDDING_DIMENSIONS)
    await embedding_index.aclose()


async def test_a_vector_of_the_old_model_is_not_saved_after_a_change_of_the_model(folder: FolderIndex):
    now = [SMALL]

    class Changing(CountingEngine):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            made = await super().embed(texts, max_tokens=max_tokens)
            now[0] = replace(SMALL, key="new file")
            return made

    engine = Changing()
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: now[0])
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    with closing(Vectors(folder.place.folder)) as vectors:
        # the first batch is of nobody knows which; the others came after
        assert vectors.read_model() == (now[0].name, EMBEDDING_DIMENSIONS)
        assert len(vectors.read_digests()) == len(engine.embedded) - BATCH_SIZE == 4
        embedding_index.request_update()
        await embedding_index.wait_until_idle()
        assert len(vectors.read_digests()) == BATCH_SIZE + 4
    await embedding_index.aclose()


async def test_a_vector_that_is_requested_during_an_update_is_made_afterwards(folder: FolderIndex):
    """If the settings change while texts are embedded, the texts that were tried before are tried again."""
    now = [SMALL]

    class Changing(CountingEngine):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            made = await super().embed(texts, max_tokens=max_tokens)
            if now[0] == SMALL:
                now[0] = replace(SMALL, key="other settings")
                assert embedding_index.request_update()
            return made

    engine = Changing()
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: now[0])
    assert embedding_index.request_update()
    await embedding_index.wait_until_idle()
    with closing(Vectors(folder.place.folder)) as vectors:
        assert vectors.read_model() == (now[0].name, EMBEDDING_DIMENSIONS)
        assert len(vectors.read_digests()) == BATCH_SIZE + 4
    await embedding_index.aclose()


async def test_a_request_during_a_failure_is_answered(folder: FolderIndex):
    class Mended(CountingEngine):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            try:
                return await super().embed(texts, max_tokens=max_tokens)
            finally:
                if self.error:
                    self.error = None
                    embedding_index.request_update()

    engine = Mended()
    engine.error = ModelMissing("there is no model to embed with")
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert (len(engine.embedded), embedding_index.problem) == (BATCH_SIZE + 4, "")
    await embedding_index.aclose()


async def test_a_query_does_not_wait_for_a_slow_engine(folder: FolderIndex, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.QUERY_TIMEOUT_S", 0.01)

    class Slow(CountingEngine):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            if priority == "interactive":
                await asyncio.Event().wait()
            return await super().embed(texts)

    engine = Slow()
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert await embedding_index.find_nearest("return 'hello '") == []
    await embedding_index.aclose()


async def test_a_waiting_edit_gets_the_code_that_is_near(folder: FolderIndex, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.QUERY_TIMEOUT_S", WAIT)
    engine, recipe = CountingEngine(), replace(SMALL, query_prefix="find: ")
    now = [recipe]
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: now[0])
    # without vectors nobody is asked
    assert await embedding_index.find_nearest("return 'hello '") == []
    assert engine.asked_for == []
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    [greet, *_] = await embedding_index.find_nearest("greet return 'hello '")
    hits = await folder.query.search("", SearchRequest("zzz", 1, [greet]))
    assert [hit.symbol for hit in hits] == ["greet"]
    assert engine.asked_for == ["find: greet return 'hello '"]
    now[0] = replace(recipe, key="other")
    assert await embedding_index.find_nearest("greet") == []
    now[0], engine.error = recipe, ModelMissing("there is no model to embed with")
    assert await embedding_index.find_nearest("greet") == []
    await embedding_index.aclose()


async def test_an_edit_uses_vectors_when_nearly_all_texts_have_one(
    folder: FolderIndex, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.QUERY_TIMEOUT_S", WAIT)
    engine = CountingEngine()
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    one_more = "def other():\n    return 1\n"
    await update_text(folder, SOURCE + one_more)
    assert await embedding_index.find_nearest("return 1")
    await update_text(folder, SOURCE + one_more + "def third():\n    return 3\n\n\ndef fourth():\n    return 4\n")
    assert await embedding_index.find_nearest("return 1") == []
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert await embedding_index.find_nearest("return 1")
    await embedding_index.aclose()


async def test_an_engine_that_cannot_embed_is_asked_again_later(folder: FolderIndex, monkeypatch: pytest.MonkeyPatch):
    engine, now = CountingEngine(), [0.0]
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.monotonic", lambda: now[0])
    engine.error = ModelMissing("there is no model to embed with")
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert embedding_index.problem == "there is no model to embed with"
    engine.error = None
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert engine.embedded == []
    now[0] = RETRY_DELAY_S
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert engine.embedded
    assert embedding_index.problem == ""
    await embedding_index.aclose()


async def test_texts_are_embedded_after_the_checks_of_edits(folder: FolderIndex):
    engine, load = CountingEngine(), FakeLoad("")
    permit = BackgroundPermit(lambda: "yield", load, load.sleep)
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: SMALL, permit)
    with permit.count_checks():
        embedding_index.request_update()
        await load.asleep.wait()
        assert engine.embedded == []
    load.awake.set()
    await embedding_index.wait_until_idle()
    assert len(engine.embedded) == BATCH_SIZE + 4
    await embedding_index.aclose()
