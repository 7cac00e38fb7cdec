"""Vectors of what a folder holds, and what is near a query. The engine is scripted: it knows which words are shared."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.errors import ModelMissing
from lsp_harness.harness.indexes.embedding_index import AGAIN_SECONDS, BATCH, Meaning, near
from lsp_harness.harness.indexes.folder_index import Folder
from lsp_harness.index.query.code_search import SearchRequest
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe
from lsp_harness.inference.scripted_engine import EMBEDDING_DIMENSIONS, ScriptedEngine

SMALL = EmbeddingRecipe("small", "key")
WAIT = 30.0
SOURCE = "".join(f"def work_{n}():\n    return {n}\n\n\n" for n in range(BATCH + 3))


class Counting(ScriptedEngine):
    """Counts what it embeds."""

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
    made = Folder(root, lambda _, said: ready.set() if said["state"] == "ready" else None, follow=True)
    await ready.wait()
    made.news = ready  # type: ignore[attr-defined]
    yield made
    await made.aclose()


async def updated(folder: Folder, text: str) -> None:
    folder.news.clear()  # type: ignore[attr-defined]
    (folder.root / "a.py").write_text(text)
    while not [one async for one in _names(folder) if one in text.split("def ")[-1]]:
        await folder.news.wait()  # type: ignore[attr-defined]
        folder.news.clear()  # type: ignore[attr-defined]


async def _names(folder: Folder):
    for (name,) in await folder.run("", lambda view: view.reader.rows("SELECT name FROM symbols"), []):
        yield name


async def test_each_text_is_embedded_once(folder: Folder):
    engine = Counting()
    meaning = Meaning(folder, lambda: engine, lambda: SMALL)
    meaning.look()
    await meaning.settled()
    assert len(engine.embedded) == BATCH + 4
    assert "greet\ndef greet(name):\n    return 'hello ' + name\n" in engine.embedded
    meaning.look()
    await meaning.settled()
    assert len(engine.embedded) == BATCH + 4

    # what moved is not new
    await updated(folder, "import os\n" + SOURCE + "def other():\n    return 1\n")
    meaning.look()
    await meaning.settled()
    assert engine.embedded[BATCH + 4 :] == ["other\ndef other():\n    return 1\n"]
    await meaning.aclose()


async def test_what_is_near_is_found_though_no_name_says_so(folder: Folder):
    engine = Counting()
    meaning = Meaning(folder, lambda: engine, lambda: SMALL)
    meaning.look()
    await meaning.settled()
    vectors = Vectors(folder.place.folder)
    digests = await near(vectors, engine, SMALL, "return 'hello '", WAIT)
    hits = await folder.query.search("", SearchRequest("zzz", 1, digests))
    assert [(hit.symbol, hit.reasons) for hit in hits] == [("greet", ("meaning 1",))]
    assert await near(vectors, engine, replace(SMALL, key="other"), "return 'hello '", WAIT) == []
    vectors.close()
    await meaning.aclose()


async def test_texts_and_queries_have_their_prefixes_when_the_engine_gets_them(folder: Folder):
    engine, recipe = Counting(), replace(SMALL, query_prefix="find: ", document_prefix="code: ", tokens=40)
    meaning = Meaning(folder, lambda: engine, lambda: recipe)
    meaning.look()
    await meaning.settled()
    assert "code: greet\ndef greet(name):\n    return 'hello ' + name\n" in engine.embedded
    assert all(text.startswith("code: ") for text in engine.embedded)
    with closing(Vectors(folder.place.folder)) as vectors:
        [greet, *_] = await near(vectors, engine, recipe, "greet return 'hello '", WAIT)
        assert (
            vectors.read_digests()[next(row for row, text in vectors.read_digests().items() if text == greet)] == greet
        )
    assert (engine.asked_for, engine.most) == (["find: greet return 'hello '"], {40})
    await meaning.aclose()


async def test_vectors_of_two_ways_are_never_mixed(folder: Folder):
    """Another file, prefix, pooling or number of tokens is another key: all texts are embedded anew, and until then
    nothing is found with the old ones."""
    engine, ways = Counting(), [SMALL, replace(SMALL, key="of another file"), replace(SMALL, model="other")]
    now = [SMALL]
    meaning = Meaning(folder, lambda: engine, lambda: now[0])
    with closing(Vectors(folder.place.folder)) as vectors:
        for n, way in enumerate(ways):
            now[0] = way
            assert await near(vectors, engine, way, "return 'hello '", WAIT) == []
            meaning.look()
            await meaning.settled()
            assert len(engine.embedded) == (n + 1) * (BATCH + 4)
            assert vectors.read_model() == (way.name, EMBEDDING_DIMENSIONS)
            assert len(vectors.read_digests()) == BATCH + 4
            assert await near(vectors, engine, way, "return 'hello '", WAIT)
            for other in set(ways) - {way}:
                assert await near(vectors, engine, other, "return 'hello '", WAIT) == []
    await meaning.aclose()


async def test_vectors_that_others_replace_during_a_search_are_not_compared(folder: Folder):
    class Replaced(Counting):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            made = await super().embed(texts, max_tokens=max_tokens)
            if priority == "interactive":
                with closing(Vectors(folder.place.folder)) as others:
                    others.add("others key", {b"x": made[0]}, text_count=1)
            return made

    engine = Replaced()
    meaning = Meaning(folder, lambda: engine, lambda: SMALL)
    meaning.look()
    await meaning.settled()
    with closing(Vectors(folder.place.folder)) as vectors:
        assert await near(vectors, engine, SMALL, "return 'hello '", WAIT) == []
        assert vectors.read_model() == ("others key", EMBEDDING_DIMENSIONS)
    await meaning.aclose()


async def test_what_was_embedded_while_the_model_changed_is_not_kept(folder: Folder):
    now = [SMALL]

    class Changing(Counting):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            made = await super().embed(texts, max_tokens=max_tokens)
            now[0] = replace(SMALL, key="new file")
            return made

    engine = Changing()
    meaning = Meaning(folder, lambda: engine, lambda: now[0])
    meaning.look()
    await meaning.settled()
    with closing(Vectors(folder.place.folder)) as vectors:
        # the first batch is of nobody knows which; the others came after
        assert vectors.read_model() == (now[0].name, EMBEDDING_DIMENSIONS)
        assert len(vectors.read_digests()) == len(engine.embedded) - BATCH == 4
        meaning.look()
        await meaning.settled()
        assert len(vectors.read_digests()) == BATCH + 4
    await meaning.aclose()


async def test_what_is_asked_for_meanwhile_is_made_after_it(folder: Folder):
    """Settings that change while texts are embedded: what was tried with those before is tried again."""
    now = [SMALL]

    class Changing(Counting):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            made = await super().embed(texts, max_tokens=max_tokens)
            if now[0] == SMALL:
                now[0] = replace(SMALL, key="other settings")
                assert meaning.look()
            return made

    engine = Changing()
    meaning = Meaning(folder, lambda: engine, lambda: now[0])
    assert meaning.look()
    await meaning.settled()
    with closing(Vectors(folder.place.folder)) as vectors:
        assert vectors.read_model() == (now[0].name, EMBEDDING_DIMENSIONS)
        assert len(vectors.read_digests()) == BATCH + 4
    await meaning.aclose()


async def test_who_asks_while_it_fails_is_not_left_waiting(folder: Folder):
    class Mended(Counting):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            try:
                return await super().embed(texts, max_tokens=max_tokens)
            finally:
                if self.error:
                    self.error = None
                    meaning.look()

    engine = Mended()
    engine.error = ModelMissing("there is no model to embed with")
    meaning = Meaning(folder, lambda: engine, lambda: SMALL)
    meaning.look()
    await meaning.settled()
    assert (len(engine.embedded), meaning.missing) == (BATCH + 4, "")
    await meaning.aclose()


async def test_nobody_waits_for_an_engine_that_is_slow(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.PATIENCE_SECONDS", 0.01)

    class Slow(Counting):
        async def embed(self, texts: Sequence[str], *, max_tokens: int = 128, priority: str = "background"):
            if priority == "interactive":
                await asyncio.Event().wait()
            return await super().embed(texts)

    engine = Slow()
    meaning = Meaning(folder, lambda: engine, lambda: SMALL)
    meaning.look()
    await meaning.settled()
    assert await meaning.near("return 'hello '") == []
    await meaning.aclose()


async def test_who_waits_for_an_edit_gets_what_is_near(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.PATIENCE_SECONDS", WAIT)
    engine, recipe = Counting(), replace(SMALL, query_prefix="find: ")
    now = [recipe]
    meaning = Meaning(folder, lambda: engine, lambda: now[0])
    # without vectors nobody is asked
    assert await meaning.near("return 'hello '") == []
    assert engine.asked_for == []
    meaning.look()
    await meaning.settled()
    [greet, *_] = await meaning.near("greet return 'hello '")
    hits = await folder.query.search("", SearchRequest("zzz", 1, [greet]))
    assert [hit.symbol for hit in hits] == ["greet"]
    assert engine.asked_for == ["find: greet return 'hello '"]
    now[0] = replace(recipe, key="other")
    assert await meaning.near("greet") == []
    now[0], engine.error = recipe, ModelMissing("there is no model to embed with")
    assert await meaning.near("greet") == []
    await meaning.aclose()


async def test_an_engine_that_cannot_is_asked_again_later(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    engine, now = Counting(), [0.0]
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.monotonic", lambda: now[0])
    engine.error = ModelMissing("there is no model to embed with")
    meaning = Meaning(folder, lambda: engine, lambda: SMALL)
    meaning.look()
    await meaning.settled()
    assert meaning.missing == "there is no model to embed with"
    engine.error = None
    meaning.look()
    await meaning.settled()
    assert engine.embedded == []
    now[0] = AGAIN_SECONDS
    meaning.look()
    await meaning.settled()
    assert engine.embedded
    assert meaning.missing == ""
    await meaning.aclose()
