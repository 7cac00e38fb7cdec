"""An agent that edits the folder of the user itself: each change is verified and reported."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.agents.agent_watch import AgentWatch
from lsp_harness.harness.events import AgentFindingsChanged, HarnessEvent
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from tests.agents.test_agent_worktrees import BETTER, GOOD, UNDEFINED, AgentWorkspace, git
from tests.harness.bench import QUICK, Bench

DEADLINE_S = 60.0


class WatchedFolder:
    """A watched folder, and the findings that were reported about it."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.folder, self.bench = folder, bench
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
async def watched_folder(tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[WatchedFolder]:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    bed = AgentWorkspace(tmp_path / "w", ruff)
    watched = WatchedFolder(bed.bench, bed.folder)
    await watched.watch.start()
    yield watched
    await watched.watch.aclose()
    await bed.bench.harness.aclose()


async def test_a_bug_that_an_agent_writes_is_reported(watched_folder: WatchedFolder):
    (watched_folder.folder / "shape.py").write_text(UNDEFINED)
    report = await watched_folder.next()
    assert watched_folder.names == ["files_changed", "verified"]
    assert (report["passed"], report["isApplied"]) == (False, True)
    assert "F821" in report["findings"][0]
    (watched_folder.folder / "shape.py").write_text(BETTER)
    assert (await watched_folder.next())["passed"] is True


async def test_earlier_findings_are_not_blamed_on_the_agent(tmp_path: Path, ruff: Ruff, monkeypatch: Any):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    bed = AgentWorkspace(tmp_path / "w", ruff)
    (bed.folder / "shape.py").write_text(UNDEFINED)
    watched = WatchedFolder(bed.bench, bed.folder)
    await watched.watch.start()
    (bed.folder / "shape.py").write_text(UNDEFINED + "\n\nSIZE = 3\n")
    assert (await watched.next())["findings"] == []
    await watched.watch.aclose()
    await bed.bench.harness.aclose()


async def test_ignored_files_and_those_of_git_are_no_news(watched_folder: WatchedFolder):
    (watched_folder.folder / "out.log").write_text("a line\n")
    git(watched_folder.folder, "commit", "-q", "--allow-empty", "-m", "second")
    (watched_folder.folder / "shape.py").write_text(BETTER)
    report = await watched_folder.next()
    assert [file["path"] for file in report["files"]] == ["shape.py"]


async def test_the_last_change_is_verified_at_the_end(watched_folder: WatchedFolder):
    (watched_folder.folder / "shape.py").write_text(UNDEFINED)
    await watched_folder.watch.aclose()
    assert watched_folder.names[-1] == "verified"
    count = len(watched_folder.names)
    await watched_folder.watch.aclose()
    assert len(watched_folder.names) == count


async def test_all_files_of_a_folder_without_git_are_checked_as_new(
    tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    (folder / "shape.py").write_text(GOOD)
    bench = Bench(folder, Verifier(CheckTools(ruff)), QUICK, ())
    watched = WatchedFolder(bench, folder)
    await watched.watch.start()
    (folder / "shape.py").write_text(UNDEFINED)
    assert "F821" in (await watched.next())["findings"][0]
    await watched.watch.aclose()
    await bench.harness.aclose()


def find_rules(bench: Bench, file: Path) -> list[str]:
    """Return the rules of the findings that an editor shows for the bytes of a file, open or not."""
    found = bench.harness.services.agent_findings.find_by_file(file)
    return [finding.code for each in found for finding in each.published.findings]


class FindingsLog:
    """The sequence of files whose findings have changed."""

    def __init__(self, bench: Bench) -> None:
        self._files: asyncio.Queue[Path] = asyncio.Queue()
        bench.harness.events.subscribe(self._note)

    def _note(self, event: HarnessEvent) -> None:
        if isinstance(event, AgentFindingsChanged):
            self._files.put_nowait(event.file)

    async def next(self) -> Path:
        async with asyncio.timeout(DEADLINE_S):
            return await self._files.get()


async def test_the_findings_of_each_file_are_reported_until_it_is_fixed(watched_folder: WatchedFolder):
    log = FindingsLog(watched_folder.bench)
    shape, other = (watched_folder.folder / name for name in ("shape.py", "other.py"))
    shape.write_text(UNDEFINED)
    other.write_text("SIZE = nowhere\n")
    await watched_folder.watch.verify()
    assert {await log.next(), await log.next()} == {shape, other}
    assert (find_rules(watched_folder.bench, shape), find_rules(watched_folder.bench, other)) == (["F821"], ["F821"])

    shape.write_text(BETTER)
    await watched_folder.watch.verify([shape])
    assert (find_rules(watched_folder.bench, shape), find_rules(watched_folder.bench, other)) == ([], ["F821"])
    other.unlink()
    await watched_folder.watch.verify([other])
    assert not watched_folder.bench.harness.services.agent_findings


async def test_findings_stay_after_the_end_of_the_agent_until_the_file_changes(watched_folder: WatchedFolder):
    log, shape = FindingsLog(watched_folder.bench), watched_folder.folder / "shape.py"
    shape.write_text(UNDEFINED)
    await watched_folder.watch.finish()
    assert await log.next() == shape
    assert find_rules(watched_folder.bench, shape) == ["F821"]
    count = len(watched_folder.names)

    shape.write_text(UNDEFINED + "\n")
    assert await log.next() == shape
    assert find_rules(watched_folder.bench, shape) == []
    assert len(watched_folder.names) == count


async def test_end_waits_for_a_verification_that_has_begun(
    watched_folder: WatchedFolder, monkeypatch: pytest.MonkeyPatch
):
    log, shape = FindingsLog(watched_folder.bench), watched_folder.folder / "shape.py"
    begun, go_on = asyncio.Event(), asyncio.Event()
    check = Ruff.check

    async def check_when_told(*args: Any, **options: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await check(*args, **options)

    monkeypatch.setattr(Ruff, "check", check_when_told)
    shape.write_text(UNDEFINED)
    async with asyncio.timeout(DEADLINE_S):
        await begun.wait()
    ending = asyncio.ensure_future(watched_folder.watch.finish())
    # the end of the agent asks git, and has time to pass the verification if it does not wait
    git(watched_folder.folder, "status", "--short")
    await asyncio.sleep(0)
    go_on.set()
    await ending
    assert await log.next() == shape
    shape.write_text(GOOD)
    assert await log.next() == shape
    assert find_rules(watched_folder.bench, shape) == []


async def test_findings_about_an_older_text_are_never_shown(
    watched_folder: WatchedFolder, monkeypatch: pytest.MonkeyPatch
):
    shape = watched_folder.folder / "shape.py"
    shape.write_text(UNDEFINED)
    check = Ruff.check

    async def check_late(*args: Any, **options: Any) -> Any:
        reports = await check(*args, **options)
        shape.write_text(GOOD)
        return reports

    monkeypatch.setattr(Ruff, "check", check_late)
    await watched_folder.watch.verify([shape])
    assert watched_folder.names[-1] == "verified"
    assert find_rules(watched_folder.bench, shape) == []
