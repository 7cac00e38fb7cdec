"""The façade: documents, settings, engines and status."""

import math
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineError, EngineRefused
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.process import typing_activity
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.workspace.snapshot import Snapshot
from tests.harness.bench import QUICK, Bench, Make
from tests.harness.tools import Script, make_settings


async def test_completion_that_is_switched_off_answers_only_explicit_requests(bench: Make) -> None:
    b = bench("3 * r", config=make_settings(completion={"enabled": False, "alternatives": 1}))
    src = b.open("def area(r):\n    return <|>\n")
    snapshot = b.harness.snapshot(src.document.uri)
    assert await b.harness.completions.complete(snapshot, src.cursor) == []
    [suggestion] = await b.harness.completions.complete(snapshot, src.cursor, automatic=False)
    assert suggestion.text == "3 * r"


@pytest.mark.parametrize(
    "facts", [{"fim_tokens": {"pre": -1, "suf": -1, "mid": -1}}, {"no_infill": "that server has no fill-in-the-middle"}]
)
async def test_an_error_says_that_the_model_cannot_fill_in_the_middle(bench: Make, facts: dict[str, Any]) -> None:
    b = bench()
    b.engine.extra_props = facts
    src = b.open("def area(r):\n    return <|>\n")
    snapshot = b.harness.snapshot(src.document.uri)
    with pytest.raises(EngineRefused, match="has no fill-in-the-middle"):
        await b.harness.completions.complete(snapshot, src.cursor)
    assert b.engine.foreground_requests == []


async def test_new_settings_are_used_from_the_next_request(bench: Make) -> None:
    b = bench("3 * r", "4 * r")
    src = b.open("def area(r):\n    return <|>\n")
    uri = src.document.uri
    await b.harness.completions.complete(b.harness.snapshot(uri), src.cursor)
    b.harness.configure(make_settings(QUICK, completion={"max_tokens": 5}))
    cursor = b.type(src, "0 + ", src.cursor)
    await b.harness.completions.complete(b.harness.snapshot(uri), cursor)
    made = [request.sampling.n_predict for request in b.engine.foreground_requests]
    assert made == [64, 5]


async def test_another_model_starts_another_engine_and_both_are_closed(bench: Make) -> None:
    b = bench()
    engines: list[Config] = []
    closed: list[Config] = []

    class Closing(Script):
        async def aclose(self) -> None:
            closed.append(engines[len(closed)])

    def make(config: Config) -> Script:
        engines.append(config)
        return Closing("3 * r" if len(engines) == 1 else "4 * r")

    b.harness = Harness(QUICK, make)
    src = b.open("def area(r):\n    return <|>\n")
    uri = src.document.uri
    await b.harness.completions.complete(b.harness.snapshot(uri), src.cursor)
    other = make_settings(QUICK, model={"path": "other", "context_length": 4096, "n_gpu_layers": 0})
    b.harness.configure(other)
    [suggestion] = await b.harness.completions.complete(b.harness.snapshot(uri), b.type(src, "1 + ", src.cursor))
    assert suggestion.text == "4 * r"
    assert engines == [QUICK, other]
    await b.harness.aclose()
    assert closed == [QUICK, other]


async def test_another_embedding_model_starts_another_engine_but_another_prefix_does_not(bench: Make) -> None:
    configs: list[Config] = []

    def make(config: Config) -> Script:
        configs.append(config)
        return Script()

    harness = Harness(QUICK, make)
    wanted = [{}, {"embedding_model": "other"}, {"embedding_pooling": "cls"}]
    for index in (*wanted, {"embedding_pooling": "cls", "embedding_document_prefix": "code: "}):
        harness.configure(make_settings(QUICK, index=index))
        await harness.services.engines.current.count([])
    assert [config.index for config in configs] == [make_settings(QUICK, index=index).index for index in wanted]
    await harness.aclose()


async def test_a_snapshot_has_its_name_in_the_workspace_and_does_not_change(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n", "src/a b.py")
    snapshot = b.harness.snapshot(src.document.uri)
    assert snapshot == Snapshot(src.document, "src/a b.py", b.folder / "src/a b.py", b.folder)
    b.type(src, "y", 0)
    assert snapshot.document.text == "x = 1\n"
    outside = Document.from_text("file:///elsewhere/c.py", "")
    b.harness.open(outside)
    assert b.harness.snapshot(outside.uri) == Snapshot(outside, "c.py", Path("/elsewhere/c.py"))
    unsaved = Document.from_text("untitled:Untitled-1", "")
    b.harness.open(unsaved)
    assert b.harness.snapshot(unsaved.uri) == Snapshot(unsaved, "Untitled-1")
    assert local_path("untitled:x") is None


async def test_the_tree_of_a_document_follows_its_changes(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n")
    uri = src.document.uri
    old = b.harness.documents.tree(b.harness.documents.get(uri).text)
    at = b.type(src, "def f():\n    return 1\n", 0)
    b.type(src, "y = é\n", at)
    new = b.harness.documents.tree(b.harness.documents.get(uri).text)
    assert old
    assert new
    assert new.data == b"def f():\n    return 1\ny = \xc3\xa9\nx = 1\n"
    assert [child.type for child in new.root.children] == ["function_definition", *["expression_statement"] * 2]
    assert new is b.harness.documents.tree(b.harness.documents.get(uri).text)


async def test_status_reports_what_is_in_use(bench: Make) -> None:
    b = bench("3 * r")
    background = {"when": "yield", "why": None, "waiting": 0}
    rest = {"log": None, "unparsed": [], "background": background}
    assert await b.harness.status() == {"engine": None, "completion": None, **rest}
    src = b.open("def area(r):\n    return <|>\n")
    [suggestion] = await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor)
    assert await b.harness.status() == {
        "engine": {"model": "scripted", "pid": 0, "scripted": True},
        "completion": {**suggestion.stats, "id": suggestion.id},
        **rest,
    }


async def test_an_engine_that_fails_at_its_end_is_reported(tmp_path: Path, ruff: Ruff) -> None:
    b = Bench(tmp_path, Verifier(CheckTools(ruff)), QUICK, ["never used"])
    assert b.harness.services.engines.current.state == "off"
    with pytest.raises(EngineError, match="1 of 1 scripted replies were not used"):
        await b.harness.aclose()
    await b.harness.aclose()


async def test_a_key_is_recorded_for_background_work(
    bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "typing"))
    b = bench()
    src = b.open("x = 1<|>\n")
    assert typing_activity.seconds_since_typing() == math.inf
    b.type(src, "2", 0)
    assert typing_activity.seconds_since_typing() < math.inf
