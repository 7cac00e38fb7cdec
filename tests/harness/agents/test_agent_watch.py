"""An agent that edits the folder of the user itself: each change is verified and reported."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.harness.agents.agent_watch import AgentWatch
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.agents.test_agent_worktrees import BETTER, GOOD, UNDEFINED, Bed, git
from tests.harness.bench import QUICK, Bench

DEADLINE_S = 60.0


class Watched:
    """A folder that is watched, and what was reported about it."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.folder = folder
        self.reports: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.names: list[str] = []
        self.watch = AgentWatch(bench.harness.services, folder, self._publish, "A1")

    def _publish(self, agent_id: str, event: EventName, data: Mapping[str, Any]):
        self.names.append(event)
        if event == "verified":
            self.reports.put_nowait(data)

    async def next(self) -> Mapping[str, Any]:
        async with asyncio.timeout(DEADLINE_S):
            return await self.reports.get()


@pytest.fixture
async def watched(tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Watched]:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    bed = Bed(tmp_path / "w", ruff)
    watched = Watched(bed.bench, bed.folder)
    await watched.watch.start()
    yield watched
    await watched.watch.aclose()
    await bed.bench.harness.aclose()


async def test_a_bug_that_an_agent_writes_is_reported(watched: Watched):
    (watched.folder / "shape.py").write_text(UNDEFINED)
    report = await watched.next()
    assert watched.names == ["files_changed", "verified"]
    assert (report["passed"], report["isApplied"]) == (False, True)
    assert "F821" in report["findings"][0]
    (watched.folder / "shape.py").write_text(BETTER)
    assert (await watched.next())["passed"] is True


async def test_what_was_there_before_the_agent_is_not_to_blame(tmp_path: Path, ruff: Ruff, monkeypatch: Any):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    bed = Bed(tmp_path / "w", ruff)
    (bed.folder / "shape.py").write_text(UNDEFINED)
    watched = Watched(bed.bench, bed.folder)
    await watched.watch.start()
    (bed.folder / "shape.py").write_text(UNDEFINED + "\n\nSIZE = 3\n")
    assert (await watched.next())["findings"] == []
    await watched.watch.aclose()
    await bed.bench.harness.aclose()


async def test_ignored_files_and_those_of_git_are_no_news(watched: Watched):
    (watched.folder / "out.log").write_text("a line\n")
    git(watched.folder, "commit", "-q", "--allow-empty", "-m", "second")
    (watched.folder / "shape.py").write_text(BETTER)
    report = await watched.next()
    assert [file["path"] for file in report["files"]] == ["shape.py"]


async def test_the_last_change_is_verified_at_the_end(watched: Watched):
    (watched.folder / "shape.py").write_text(UNDEFINED)
    await watched.watch.aclose()
    assert watched.names[-1] == "verified"
    count = len(watched.names)
    await watched.watch.aclose()
    assert len(watched.names) == count


async def test_a_folder_without_git_is_checked_as_if_its_files_were_new(
    tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    (folder / "shape.py").write_text(GOOD)
    bench = Bench(folder, Verifier(CheckTools(ruff)), QUICK, ())
    watched = Watched(bench, folder)
    await watched.watch.start()
    (folder / "shape.py").write_text(UNDEFINED)
    assert "F821" in (await watched.next())["findings"][0]
    await watched.watch.aclose()
    await bench.harness.aclose()
