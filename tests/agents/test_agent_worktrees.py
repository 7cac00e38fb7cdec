"""Tests of an agent that edits files in its worktree: the verdict, the application and the undo of its changes."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.agents.agent_verbs import AgentVerbs
from lsp_harness.agents.agent_worktrees import AgentWorktrees
from lsp_harness.agents.change_review import ChangeReview
from lsp_harness.errors import StaleDocument, UsageError
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.wire.event import Event
from tests.harness.bench import QUICK, Bench
from tests.harness.tools import make_settings

GOOD = "def area(width, height):\n    return width * height\n"
UNDEFINED = "def area(width, height):\n    return widht * height\n"
BETTER = "def area(width, height):\n    size = width * height\n    return size\n"
DENIED = make_settings(QUICK, permissions={"mode": "plan"})


def git(folder: Path, *arguments: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    result = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


class AgentWorkspace:
    """A git repository of a user, and an agent that works in a worktree of it."""

    def __init__(self, folder: Path, ruff: Ruff, config: Any = QUICK) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
        (folder / "shape.py").write_text(GOOD)
        (folder / "notes.md").write_text("# Notes\n")
        (folder / ".gitignore").write_text("*.log\n")
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "first")
        self.bench = Bench(folder, Verifier(CheckTools(ruff)), config, ())
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self.worktrees = AgentWorktrees(self.bench.harness.services, self._publish)
        self.spec = AgentSpec("fake", folder, isolation="worktree")

    def _publish(self, agent_id: str, event: EventName, data: Mapping[str, Any]):
        self.events.append((event, data))

    @cached_property
    def agents(self) -> AgentVerbs:
        return AgentVerbs(self.bench.harness.services)

    @property
    def text(self) -> str:
        return (self.folder / "shape.py").read_text()

    async def start(self) -> Path:
        """Start the agent, and return the folder in which it works."""
        spec = await self.worktrees.isolate(self.spec)
        self.worktrees.adopt("A1", spec)
        return spec.workdir

    async def edit(self, script: str):
        """Let the agent do something in its folder: a process of its own, as a real agent is."""
        isolated = self.worktrees.find("A1")
        assert isolated
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", script, cwd=isolated.worktree.workdir)
        assert await child.wait() == 0

    async def write(self, text: str, name: str = "shape.py") -> ChangeReview:
        await self.edit(f"open({name!r}, 'w').write({text!r})")
        return await self.worktrees.review("A1")


@pytest.fixture
async def agent_workspace(
    tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[AgentWorkspace]:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    bed = AgentWorkspace(tmp_path / "w", ruff)
    yield bed
    await bed.bench.harness.aclose()


async def test_a_bug_is_named_before_anything_is_applied_and_the_fix_is_applied_and_undone(
    agent_workspace: AgentWorkspace,
):
    workdir = await agent_workspace.start()
    assert not workdir.is_relative_to(agent_workspace.folder)
    buggy = await agent_workspace.write(UNDEFINED)
    assert not buggy.verdict.passed
    assert any("F821" in line and "widht" in line for line in buggy.findings)
    assert [event for event, _ in agent_workspace.events] == ["files_changed", "verified"]
    assert agent_workspace.events[-1][1]["passed"] is False
    assert "widht" in agent_workspace.events[-1][1]["findings"][0]
    with pytest.raises(UsageError, match="F821"):
        await agent_workspace.worktrees.apply("A1", buggy.id)
    assert agent_workspace.text == GOOD

    fixed = await agent_workspace.write(BETTER)
    assert fixed.verdict.passed
    # it may be applied, and the verdict says that nobody knows what it does, and why
    said = agent_workspace.events[-1][1]
    assert (said["passed"], said["standing"]) == (True, "form")
    assert said["verdict"].startswith("form ✓, behaviour not checked (parse ✓, ")
    assert "tests – (this workspace is not trusted, so no tests run)" in said["verdict"]
    assert agent_workspace.text == GOOD
    await agent_workspace.worktrees.apply("A1", fixed.id)
    assert agent_workspace.text == BETTER
    result = await agent_workspace.worktrees.undo("A1")
    assert result.paths == ("shape.py",)
    assert agent_workspace.text == GOOD
    assert git(agent_workspace.folder, "status", "--porcelain") == ""


async def test_files_that_are_created_and_removed_are_applied_and_undone(agent_workspace: AgentWorkspace):
    await agent_workspace.start()
    await agent_workspace.edit(
        "import os; os.remove('notes.md'); os.makedirs('pkg/inner'); open('pkg/inner/new.py', 'w').write('x = 1\\n')"
    )
    review = await agent_workspace.worktrees.review("A1")
    files = {file["path"]: file["kind"] for file in review.fields(agent_workspace.folder)["files"]}
    assert files == {"pkg/inner/new.py": "created", "notes.md": "removed"}
    await agent_workspace.worktrees.apply("A1", review.id)
    assert (agent_workspace.folder / "pkg/inner/new.py").read_text() == "x = 1\n"
    assert not (agent_workspace.folder / "notes.md").exists()
    await agent_workspace.worktrees.undo("A1")
    assert not (agent_workspace.folder / "pkg").exists()
    assert (agent_workspace.folder / "notes.md").read_text() == "# Notes\n"


async def test_commits_of_an_agent_belong_to_its_changes(agent_workspace: AgentWorkspace):
    workdir = await agent_workspace.start()
    (workdir / "shape.py").write_text(BETTER)
    git(workdir, "commit", "-q", "-a", "-m", "by the agent")
    review = await agent_workspace.worktrees.review("A1")
    assert [change.after.text for change in review.all_changes] == [BETTER]
    assert git(agent_workspace.folder, "log", "--format=%s", "main") == "first"


async def test_the_agent_begins_with_the_files_of_the_user_as_they_are(agent_workspace: AgentWorkspace):
    (agent_workspace.folder / "shape.py").write_text(BETTER)
    (agent_workspace.folder / "draft.py").write_text("y = 2\n")
    status = git(agent_workspace.folder, "status", "--porcelain")
    workdir = await agent_workspace.start()
    assert (workdir / "shape.py").read_text() == BETTER
    assert (workdir / "draft.py").read_text() == "y = 2\n"
    assert git(agent_workspace.folder, "status", "--porcelain") == status
    assert (await agent_workspace.worktrees.review("A1")).is_empty
    review = await agent_workspace.write("y = 3\n", "draft.py")
    await agent_workspace.worktrees.apply("A1", review.id)
    assert (agent_workspace.folder / "draft.py").read_text() == "y = 3\n"


async def test_a_file_that_the_user_changed_meanwhile_is_not_overwritten(agent_workspace: AgentWorkspace):
    await agent_workspace.start()
    review = await agent_workspace.write(BETTER)
    (agent_workspace.folder / "shape.py").write_text("# mine\n")
    with pytest.raises(StaleDocument):
        await agent_workspace.worktrees.apply("A1", review.id)
    assert agent_workspace.text == "# mine\n"


async def test_an_unsaved_text_of_the_editor_is_not_lost(agent_workspace: AgentWorkspace):
    await agent_workspace.start()
    review = await agent_workspace.write(BETTER)
    src = agent_workspace.bench.open(GOOD, "shape.py")
    agent_workspace.bench.type(src, "# typed\n", 0)
    with pytest.raises(StaleDocument, match="unsaved"):
        await agent_workspace.worktrees.apply("A1", review.id)
    assert agent_workspace.text == GOOD


async def test_only_the_review_that_the_user_saw_is_applied(agent_workspace: AgentWorkspace):
    await agent_workspace.start()
    first = await agent_workspace.write(BETTER)
    await agent_workspace.edit(f"open('shape.py', 'w').write({UNDEFINED!r})")
    await agent_workspace.worktrees.apply("A1", first.id)
    assert agent_workspace.text == BETTER
    with pytest.raises(UsageError, match="no such review"):
        await agent_workspace.worktrees.apply("A1", first.id)


async def test_a_change_of_the_user_after_the_application_is_not_undone_without_force(agent_workspace: AgentWorkspace):
    await agent_workspace.start()
    review = await agent_workspace.write(BETTER)
    await agent_workspace.worktrees.apply("A1", review.id)
    (agent_workspace.folder / "shape.py").write_text("# mine\n")
    with pytest.raises(StaleDocument):
        await agent_workspace.worktrees.undo("A1")
    assert agent_workspace.text == "# mine\n"
    await agent_workspace.worktrees.undo("A1", force=True)
    assert agent_workspace.text == GOOD


@pytest.mark.parametrize(
    ("script", "path", "reason"),
    [
        ("import os; os.symlink('/etc/passwd', 'link.py')", "link.py", "link"),
        ("open('data.bin', 'wb').write(b'\\0\\1\\2')", "data.bin", "no text"),
        ("open('huge.py', 'w').write('x = 1\\n' * 1_000_000)", "huge.py", "too large"),
        ("open('.env', 'w').write('TOKEN=abc\\n')", ".env", "private"),
    ],
)
async def test_a_change_that_cannot_be_checked_is_left_out_and_named(
    agent_workspace: AgentWorkspace, script: str, path: str, reason: str
):
    await agent_workspace.start()
    await agent_workspace.edit(script)
    review = await agent_workspace.write(BETTER)
    assert reason in review.left_out[path]
    await agent_workspace.worktrees.apply("A1", review.id)
    assert agent_workspace.text == BETTER
    assert not (agent_workspace.folder / path).exists()


async def test_changes_are_not_applied_through_a_folder_that_is_a_link(agent_workspace: AgentWorkspace, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    await agent_workspace.start()
    await agent_workspace.edit("import os; os.mkdir('sub'); open('sub/evil.py', 'w').write('x = 1\\n')")
    (agent_workspace.folder / "sub").symlink_to(outside)
    review = await agent_workspace.worktrees.review("A1")
    assert review.left_out == {"sub/evil.py": "it is outside of the folder of the session"}
    assert list(outside.iterdir()) == []


async def test_hooks_of_the_repository_do_not_run(agent_workspace: AgentWorkspace, tmp_path: Path):
    proof = tmp_path / "proof"
    for name in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction"):
        hook = agent_workspace.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {proof}\n")
        hook.chmod(0o755)
    await agent_workspace.start()
    await agent_workspace.write(BETTER)
    await agent_workspace.worktrees.discard("A1")
    assert not proof.exists()


async def test_a_file_that_the_index_of_the_agent_hides_is_found(agent_workspace: AgentWorkspace):
    workdir = await agent_workspace.start()
    git(workdir, "update-index", "--assume-unchanged", "shape.py")
    review = await agent_workspace.write(UNDEFINED)
    assert not review.verdict.passed


async def test_discarding_leaves_neither_folder_nor_branch(agent_workspace: AgentWorkspace):
    workdir = await agent_workspace.start()
    await agent_workspace.write(BETTER)
    await agent_workspace.worktrees.discard("A1")
    assert not workdir.exists()
    assert git(agent_workspace.folder, "branch", "--list") == "* main"
    assert len(git(agent_workspace.folder, "worktree", "list").splitlines()) == 1
    assert agent_workspace.text == GOOD
    assert list((agent_workspace.folder / ".git").glob("lsp-harness-*")) == []


async def test_an_agent_that_could_not_be_started_leaves_no_worktree(agent_workspace: AgentWorkspace):
    spec = await agent_workspace.worktrees.isolate(agent_workspace.spec)
    await agent_workspace.worktrees.abandon(spec)
    assert not spec.workdir.exists()


async def test_a_mode_that_forbids_edits_prevents_the_application(
    tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    bed = AgentWorkspace(tmp_path / "w", ruff, DENIED)
    try:
        await bed.start()
        review = await bed.write(BETTER)
        assert review.verdict.passed
        with pytest.raises(UsageError, match="not allowed"):
            await bed.worktrees.apply("A1", review.id)
        assert bed.text == GOOD
    finally:
        await bed.bench.harness.aclose()


@pytest.mark.parametrize("has_repository", [True, False])
async def test_a_folder_without_a_commit_gets_no_worktree(
    agent_workspace: AgentWorkspace, tmp_path: Path, has_repository: bool
):
    folder = tmp_path / "empty"
    folder.mkdir()
    if has_repository:
        git(folder, "init", "-q")
    with pytest.raises(InvalidSpec, match="no worktree"):
        await agent_workspace.worktrees.isolate(AgentSpec("fake", folder, isolation="worktree"))


async def test_an_agent_without_isolation_works_in_the_folder_itself(agent_workspace: AgentWorkspace):
    spec = AgentSpec("fake", agent_workspace.folder)
    assert await agent_workspace.worktrees.isolate(spec) is spec
    with pytest.raises(UsageError, match="no worktree"):
        await agent_workspace.worktrees.review("A1")


async def test_equal_changes_are_verified_once(agent_workspace: AgentWorkspace):
    await agent_workspace.start()
    first = await agent_workspace.write(BETTER)
    count = len(agent_workspace.events)
    assert await agent_workspace.worktrees.review("A1") is first
    assert len(agent_workspace.events) == count
    other = await agent_workspace.write(GOOD + "\n")
    again = await agent_workspace.write(BETTER)
    assert (again.id == first.id, other.id == first.id) == (True, False)


async def test_the_log_says_that_applied_changes_were_not_checked(agent_workspace: AgentWorkspace):
    events: list[Event] = []
    agent_workspace.bench.harness.services.session.log.listeners.append(events.append)
    await agent_workspace.start()
    review = await agent_workspace.write("more\n", "notes.txt")
    with pytest.raises(UsageError, match="no check can read"):
        await agent_workspace.worktrees.apply("A1", review.id)
    await agent_workspace.worktrees.apply("A1", review.id, unchecked=True)
    assert (agent_workspace.folder / "notes.txt").read_text() == "more\n"
    proposed = [event for event in events if event.type == "edit.proposed"]
    applied = [event for event in events if event.type == "edit.applied"]
    assert proposed[0].data["summary"].startswith("not checked")
    assert applied[0].data["proposal"] == proposed[0].id
    await agent_workspace.worktrees.undo("A1")
    assert not (agent_workspace.folder / "notes.txt").exists()
