"""The embedding of the texts of a folder, and its effect on the prompt of an edit.

The index stays on disk, and the engine embeds by a script.
"""

import asyncio
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.errors import NoAnswer
from lsp_harness.harness.events import HarnessEvent, IndexReported
from lsp_harness.harness.harness import Harness
from lsp_harness.index.index_place import prepare_place
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.models.bert import convert
from lsp_harness.kernel.results import FixOffer
from lsp_harness.text.position import Span
from tests.harness.bench import AREA, Bench, Make
from tests.harness.tools import make_settings
from tests.support import markup
from tests.support.encoder import make_tiny_encoder

pytestmark = pytest.mark.process

FAR = "def zebra(n):\n    return n * 7\n"
INSTRUCTION = "louder"
"""No word of it is anywhere."""
ANSWER = "```python\ndef area(r):\n    return 4 * r\n```"


@pytest.fixture
def bench_with_index(bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Bench]:
    """Return a function that makes a bench for a front end that stays, with a folder of its own."""
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.QUERY_TIMEOUT_S", 30.0)
    root = tmp_path / "ws"
    root.mkdir()
    (root / "far.py").write_text(FAR)
    # only that the file is there counts: the engine is a script
    convert(make_tiny_encoder(), tmp_path / "encoder.gguf", name="Tiny", license="mit")
    config = make_settings(
        index={"embedding_model": str(tmp_path / "encoder.gguf")},
        generation={"candidates": 1, "max_retries": 0},
        verification={"debounce_ms": 0},
    )

    def make_bench(*replies: Any, **more: dict[str, Any]) -> Bench:
        b = bench(*replies, config=make_settings(config, **more), works_ahead=True)
        b.harness.workspace.set_roots([root])
        return b

    return make_bench


async def index_folder(harness: Harness) -> None:
    """Index the folder of the harness."""
    news = asyncio.Event()

    def hear(event: HarnessEvent) -> None:
        if isinstance(event, IndexReported) and event.message["state"] == "ready":
            news.set()

    harness.events.subscribe(hear)
    harness.keep_indexes()
    await news.wait()


async def count_vectors(harness: Harness) -> int:
    """Return the number of vectors after the pending work."""
    for embedding_index in harness.services.index.folder_indexes._embedding_indexes.values():
        await embedding_index.wait_until_idle()
    with closing(Vectors(prepare_place(harness.workspace.roots[0]).folder)) as vectors:
        return len(vectors.read_digests())


async def instruct_area(b: Bench) -> None:
    src = markup.parse("def <|>area(r):\n    return 3 * r\n", b.harness.workspace.roots[0] / "a.py")
    b.harness.open(src.document)
    snapshot = b.harness.snapshot(src.document.uri)
    await b.harness.edits.instruct(snapshot, Span(src.cursor, src.cursor), INSTRUCTION, lambda progress: None)


async def test_an_edit_is_shown_code_of_similar_meaning(bench_with_index: Callable[..., Bench]):
    b = bench_with_index(ANSWER, ANSWER)
    await index_folder(b.harness)
    assert await count_vectors(b.harness) == 0
    await instruct_area(b)
    # as the engine was in use, what the folder holds has been embedded since, or even before the prompt was written
    assert await count_vectors(b.harness) == 1
    await instruct_area(b)
    assert f"# far.py:1\n{FAR}" in b.engine.prompt(1)


async def test_a_foreign_server_makes_no_vectors(bench_with_index: Callable[..., Bench]):
    b = bench_with_index(ANSWER, engine={"url": "http://localhost:1"})
    await index_folder(b.harness)
    await instruct_area(b)
    assert await count_vectors(b.harness) == 0
    assert (
        await b.harness.services.index.find_similar((b.harness.workspace.roots[0] / "a.py").as_uri(), INSTRUCTION) == ()
    )


async def test_a_file_that_is_indexed_while_the_engine_runs_is_embedded_at_once(bench_with_index: Callable[..., Bench]):
    b = bench_with_index()
    await b.harness.services.engines.current.props()
    await index_folder(b.harness)
    assert await count_vectors(b.harness) == 1


@pytest.mark.parametrize("what", ["fix", "explain"])
async def test_an_engine_embeds_texts_although_its_answer_was_rejected(
    bench_with_index: Callable[..., Bench], what: str
):
    b = bench_with_index("return (" if what == "fix" else "It is the area.")
    await index_folder(b.harness)
    src = markup.parse(AREA, b.harness.workspace.roots[0] / "a.py")
    b.harness.open(src.document)
    snapshot = b.harness.snapshot(src.document.uri)
    with suppress(NoAnswer):
        if what == "fix":
            await b.harness.fixes.fix(snapshot, FixOffer("", "model", src.finding), lambda progress: None)
        else:
            await b.harness.edits.explain(snapshot, Span(5, 5), lambda progress: None)
    assert b.engine.foreground_requests
    assert await count_vectors(b.harness) == 1
