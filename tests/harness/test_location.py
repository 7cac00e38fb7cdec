"""Tests of instructions without a place: their code is found and edited. The engine is a script."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.location.task_location import LocationRequest
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.harness.engines import Engines
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.text.position import decode
from tests.harness.bench import Bench, Make
from tests.harness.spoken import fence_code, ignore_progress
from tests.harness.tools import make_settings

pytestmark = pytest.mark.process

SHOP = "def total(prices):\n    return sum(prices)\n\n\ndef tax_of(price):\n    return price // 5\n"
TASK = "let tax_of round up"
ONE = {"generation": {"candidates": 1, "max_retries": 0}}

Staying = Callable[..., Awaitable[Bench]]


@pytest.fixture
def make_staying_bench(bench: Make) -> Staying:
    """Return a function that makes a harness for a front end that stays, over an indexed folder."""

    async def make(*replies: Any, **sections: Any) -> Bench:
        b, ready = bench(*replies, config=make_settings(**{**ONE, **sections}), works_ahead=True), asyncio.Event()
        b.folder /= "ws"
        b.folder.mkdir()
        (b.folder / "shop.py").write_text(SHOP)
        (b.folder / "notes.md").write_text("How tax_of rounds up: it does not.\n")
        b.harness.workspace.set_roots([b.folder])
        b.on_index(lambda _, said: ready.set() if said["state"] == "ready" else None)
        b.harness.keep_indexes()
        await ready.wait()
        return b

    return make


async def test_the_code_of_an_instruction_is_found_and_edited_without_a_place(
    make_staying_bench: Staying, monkeypatch: pytest.MonkeyPatch
):
    # vectors that are made in the background would bring the other function into the prompt, if they are made in time
    monkeypatch.setattr(Engines, "is_own", False)
    b = await make_staying_bench(fence_code("def tax_of(price):\n    return -(-price // 5)"))

    document_edit, location = await b.harness.tasks.instruct(LocationRequest(TASK, ""), ignore_progress)

    assert document_edit.document.uri == (b.folder / "shop.py").as_uri()
    assert decode(apply(document_edit.document.data, document_edit.proposal.edits)) == SHOP.replace(
        "price //", "-(-price //"
    ).replace("5\n", "5)\n")
    assert (location.ranking.best.place, location.ranking.chooser) == ("shop.py:5-6", "index")
    assert "def total" not in b.engine.prompt(0)


async def test_output_of_a_tool_about_other_code_is_refused(make_staying_bench: Staying):
    b = await make_staying_bench()
    with pytest.raises(UsageError, match=r"the output reports nothing in shop\.py"):
        await b.harness.tasks.instruct(
            LocationRequest(TASK, ""), ignore_progress, "other.py:1:1: F401 `os` imported but unused"
        )
    assert not b.engine.foreground_requests


async def test_the_unsaved_text_is_edited(make_staying_bench: Staying):
    b = await make_staying_bench(fence_code("def tax_of(price):\n    return 1"))
    document = Document.from_text(
        (b.folder / "shop.py").as_uri(), "import math\n\n\n" + SHOP, language="python", version=3
    )
    b.harness.open(document)

    document_edit, location = await b.harness.tasks.instruct(LocationRequest(TASK, document.uri), ignore_progress)

    assert document_edit.document == document
    assert location.ranking.best.place == "shop.py:8-9"
    assert decode(apply(document.data, document_edit.proposal.edits)).endswith("\n\ndef tax_of(price):\n    return 1\n")


async def test_the_model_chooses_the_place_if_the_settings_say_so(make_staying_bench: Staying):
    b = await make_staying_bench("1", locate={"ranking": "model"})

    location = await b.harness.tasks.locate(LocationRequest("let the tax round up"))

    assert (location.ranking.choice, location.ranking.chooser) == (1, "model")
    assert "1: notes.md:1" in b.engine.prompt(0)
    # where the task names the code, there is nothing to choose
    named = await b.harness.tasks.locate(LocationRequest(TASK))
    assert (named.ranking.best.symbol, named.ranking.chooser, named.ranking.doubt) == ("tax_of", "index", "")


async def test_private_code_is_not_found(make_staying_bench: Staying):
    b = await make_staying_bench()
    (b.folder / ".lspharnessignore").write_text("shop.py\n")

    location = await b.harness.tasks.locate(LocationRequest(TASK))

    assert {candidate.path for candidate in location.ranking.candidates} == {"notes.md"}


async def test_a_task_is_located_by_its_meaning_if_there_are_vectors(
    make_staying_bench: Staying, monkeypatch: pytest.MonkeyPatch
):
    """The scripted engine finds two texts similar if they share words."""
    b = await make_staying_bench()
    recipe = EmbeddingRecipe("small", "key")
    monkeypatch.setattr("lsp_harness.inference.embedding_recipe.make_recipe", lambda settings: recipe)
    monkeypatch.setattr(Engines, "is_own", True)
    [folder] = b.harness.services.index.folder_indexes.folders
    rows = await folder.run("", lambda view: view.reader.rows("SELECT digest FROM chunks WHERE digest != x''"), [])
    embeddings = await b.engine.embed(["something else", "charge it to the state"])
    with closing(Vectors(folder.place.folder)) as vectors:
        vectors.add(recipe.name, dict(zip([digest for (digest,) in rows], embeddings, strict=True)), 2)

    # an engine that was asked nothing yet is not started for it
    with pytest.raises(NoAnswer, match="no code in ws fits this task"):
        await b.harness.tasks.locate(LocationRequest("charge"))
    await b.harness.services.engines.current.props()
    location = await b.harness.tasks.locate(LocationRequest("charge"))

    best = location.ranking.best
    assert (best.symbol, best.reasons) == ("tax_of", ("meaning 1",))


async def test_while_the_index_is_made_the_error_gives_that_reason(
    make_staying_bench: Staying, monkeypatch: pytest.MonkeyPatch
):
    b = await make_staying_bench()
    monkeypatch.setattr("lsp_harness.index.index_query.is_complete", lambda reader: False)

    with pytest.raises(NoAnswer, match="the index of ws is still being made"):
        await b.harness.tasks.locate(LocationRequest("zebra"))


async def test_a_folder_that_cannot_be_indexed_is_named(bench: Make, tmp_path: Path):
    harness = bench(works_ahead=True).harness
    harness.workspace.set_roots([tmp_path / "absent"])
    harness.keep_indexes()

    with pytest.raises(UsageError, match="absent has no index; the log of the server says why"):
        await harness.tasks.locate(LocationRequest(TASK))
