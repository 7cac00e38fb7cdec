"""The indexes of the folders a front end has open."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.config.schema import Index
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.harness.indexes.folder_indexes import FolderIndexes
from lsp_harness.index.index_keeper import IndexKeeper
from lsp_harness.index.query.symbol_lookup import find_symbols
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.wire.event import Event
from tests.harness.bench import QUICK, Make
from tests.harness.tools import make_settings

pytestmark = pytest.mark.process


def make_engine() -> ScriptedEngine:
    return ScriptedEngine([])


class ReportListener:
    """A listener that records reports and waits for them."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self._news = asyncio.Event()

    def __call__(self, root: Path, said) -> None:
        self.heard.append((root.name, said["state"]))
        self._news.set()

    async def until(self, wanted: Callable[[], bool]) -> None:
        while not wanted():
            self._news.clear()
            await self._news.wait()


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.py").write_text(f"def in_{name}(): ...\n")
    return [tmp_path / "a", tmp_path / "b"]


async def read_names(indexes: FolderIndexes) -> list[str]:
    names: list[str] = []
    for folder in indexes.folders:
        matches = await folder.run("", lambda view: find_symbols(view, ""), None)
        names += [match.symbol.name for match in matches] if matches is not None else ["damaged"]
    return names


async def test_each_folder_has_its_own_index(roots: list[Path]):
    ears = ReportListener()
    indexes = FolderIndexes(ears, make_engine, Index)
    assert indexes.state() == "off"
    indexes.keep(roots, follow=True)
    assert indexes.state() == "waiting"
    await ears.until(lambda: indexes.state() == "ready")
    assert await read_names(indexes) == ["in_a", "in_b"]
    indexes.keep(roots[1:], follow=True)
    assert await read_names(indexes) == ["in_b"]
    await indexes.aclose()
    assert indexes.state() == "off"


async def test_files_that_were_indexed_are_recorded_in_the_session_log(bench: Make, roots: list[Path]):
    b, ears = bench(works_ahead=True), ReportListener()
    b.harness.workspace.set_roots(roots[:1])
    b.on_index(ears)
    events: list[Event] = []
    b.harness.services.session.log.listeners.append(events.append)
    b.harness.keep_indexes()
    await ears.until(lambda: ("a", "ready") in ears.heard)
    [first] = events
    assert (first.type, first.turn, first.data["ms"] > 0) == ("index.updated", None, True)
    assert {key: first.data[key] for key in ("folder", "paths", "files")} == {"folder": "a", "paths": 1, "files": 1}
    # nothing was asked for yet: that leaves nothing on disk
    assert not b.harness.services.session.log.path.exists()
    b.harness.services.session.log.turn().append(InvocationReceived("edit", "use pi", "x.py"))
    (roots[0] / "y.py").write_text("def more(): ...\n")
    await ears.until(lambda: len(events) == 3)
    assert [(event.type, event.seq) for event in read_log(b.harness.services.session.log.path)] == [
        ("invocation.received", 0),
        ("index.updated", 1),
    ]
    assert (events[-1].data["paths"], events[-1].data["files"]) == (1, 2)


async def test_a_missing_folder_has_no_index(roots: list[Path]):
    indexes = FolderIndexes(ReportListener(), make_engine, Index)
    indexes.keep([roots[0] / "absent"], follow=True)
    assert indexes.folders == []
    await indexes.aclose()


async def test_a_damaged_index_is_rebuilt_and_answers_again(roots: list[Path]):
    ears = ReportListener()
    indexes = FolderIndexes(ears, make_engine, Index)
    indexes.keep(roots[:1], follow=True)
    await ears.until(lambda: indexes.state() == "ready")
    assert await read_names(indexes) == ["in_a"]
    [database] = (roots[0].parent / "home/cache/index").glob("*/index.db")
    broken = database.with_name("broken.db")
    broken.write_bytes(b"no database" * 1000)
    ears.heard.clear()
    for suffix in ("-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
    os.replace(broken, database)
    # mended it may be by now
    assert await read_names(indexes) in (["damaged"], ["in_a"], [])
    await ears.until(lambda: ("a", "ready") in ears.heard)
    assert await read_names(indexes) == ["in_a"]
    await indexes.aclose()


async def test_changes_on_disk_are_followed_only_if_the_settings_say_so(roots: list[Path]):
    ears = ReportListener()
    indexes = FolderIndexes(ears, make_engine, Index)
    indexes.keep(roots[:1], follow=False)
    await ears.until(lambda: indexes.state() == "ready")
    (roots[0] / "x.py").write_text("def later(): ...\n")
    ears.heard.clear()
    # another word for the same folder: it is looked at anew, and from then on followed
    indexes.keep(roots[:1], follow=True)
    await ears.until(lambda: indexes.state() == "ready")
    assert await read_names(indexes) == ["later"]
    (roots[0] / "x.py").write_text("def last(): ...\n")
    while True:
        ears.heard.clear()
        if await read_names(indexes) == ["last"]:
            break
        await ears.until(lambda: ("a", "ready") in ears.heard)
    await indexes.aclose()


@pytest.mark.parametrize("follow", [True, False])
async def test_a_written_file_is_reported_if_changes_are_followed(
    roots: list[Path], monkeypatch: pytest.MonkeyPatch, follow: bool
):
    told: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        IndexKeeper, "report_changes", lambda self, paths: told.append((self._place.root.name, [*paths]))
    )
    indexes = FolderIndexes(ReportListener(), make_engine, Index)
    (roots[0] / "inner").mkdir()
    indexes.keep([*roots, roots[0] / "inner"], follow=follow)
    for file in (roots[0] / "inner/y.py", roots[1] / "x.py", roots[1].parent / "elsewhere.py"):
        indexes.report_change(file)
    wanted = [("a", ["inner/y.py"]), ("b", ["x.py"]), ("inner", ["y.py"])]
    assert sorted(told) == (wanted if follow else [])
    await indexes.aclose()


async def test_an_index_is_made_only_with_trust_and_if_the_settings_allow_it(bench, roots: list[Path]):
    wanted = [(True, True, True), (False, True, True), (True, False, True), (True, True, False)]
    for eager, trusted, enabled in wanted:
        config = make_settings(QUICK, index={"enabled": enabled})
        harness = bench(config=config, works_ahead=eager, is_trusted=trusted).harness
        harness.workspace.set_roots(roots[:1])
        harness.keep_indexes()
        assert (harness.state()["index"] != "off") == (eager and trusted and enabled)


async def test_settings_that_arrive_too_early_are_applied_later(roots: list[Path], monkeypatch: pytest.MonkeyPatch):
    """An engine that cannot embed is not asked for a while, and settings that change meanwhile are used later."""
    now, ears, pooling, asked = [0.0], ReportListener(), ["Mean"], list[str]()
    monkeypatch.setattr("lsp_harness.harness.indexes.embedding_index.monotonic", lambda: now[0])
    monkeypatch.setattr(
        "lsp_harness.inference.embedding_recipe.resolve_model", lambda name, kind: asked.append(name) or Path("none")
    )
    indexes = FolderIndexes(ears, make_engine, lambda: Index(embedding_pooling=pooling[0]))
    indexes.keep(roots[:1], follow=True)
    await ears.until(lambda: indexes.state() == "ready")

    async def embed() -> int:
        """Return the number of searches for the model."""
        indexes.embed()
        await indexes._embedding_indexes[roots[0]].wait_until_idle()
        return len(asked)

    assert await embed() == 0
    pooling[0] = "mean"
    assert await embed() == 0
    now[0] = 1000.0
    assert await embed() == 1
    await indexes.aclose()
