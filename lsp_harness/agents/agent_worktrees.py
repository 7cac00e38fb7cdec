"""The worktrees of foreign agents: what an agent changed is verified, written with checkpoints, and undone."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lsp_harness.agents.change_review import ChangeReview, hash_changes, require_applicable, review_changes
from lsp_harness.agents.worktree_records import WorktreeRecord, WorktreeRecords
from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import replace_file
from lsp_harness.errors import FileError, FileMissing, StaleDocument, UsageError
from lsp_harness.events.code_events import EditApplied, EditProposed, EditRejected, EditReverted, EditStale
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.tool_events import CheckpointCreated
from lsp_harness.files.folders import resolve_links
from lsp_harness.files.secrets import redact
from lsp_harness.harness.edits.proposals import require_unchanged
from lsp_harness.harness.services import Services
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints, RestorationGuard
from lsp_harness.kernel.checkpoints.undo_plan import UndoPlan
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Ending
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.results import Proposal
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.isolation.worktree import Worktree
from lsp_harness.sessions.session_undo import UndoResult, restore_turn
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.verify.change import ChangeSet


class ChangeWriter:
    """Writes changes that were reviewed, and undoes them.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def undo(self, root: Path, plan: UndoPlan, *, force: bool) -> UndoResult:
        """Give files the texts that they had before a write.

        Args:
            root: The folder of the user.
            plan: How the write is undone.
            force: Also restore files that somebody changed since.

        Raises:
            StaleDocument: Somebody has changed a file since.
        """
        checkpoints = self._open_checkpoints(
            root, self._services.session.log.append, self._services.permission.undo_guard
        )
        return await restore_turn(checkpoints, plan, force=force)

    async def write(self, root: Path, review: ChangeReview, turn: Turn) -> UndoPlan:
        """Ask the gate, copy the files, write them, and return how that is undone.

        Args:
            root: The folder of the user.
            review: The review of the changes, which may be applied.
            turn: The turn that records it.

        Raises:
            UsageError: The gate does not allow it.
            StaleDocument: A file of the user has changed since the agent began.
            FileError: A file cannot be written. Then none is changed.
        """
        everything = review.all_changes
        files = [(change.file, change) for change in everything]
        self._require_saved([change.file for change in everything])
        require_unchanged(files)
        proposal = Proposal(
            review.event_id, ChangeSet(everything), review.verdict, review.diff, "the changes of an agent", turn.number
        )
        await self._services.permission.require(proposal)

        def record(event: SessionEvent) -> object:
            return turn.append(event)

        checkpoints = self._open_checkpoints(root, record)
        removed = {change.file for change in review.removed}
        contents = {change.file: None if change.file in removed else change.after.data for change in everything}
        created = await checkpoints.capture_edit(contents)
        plan = UndoPlan(turn.number, (created.checkpoint_id,))
        try:
            # the gate may have asked a person, who takes time
            require_unchanged(files)
            for file, change in files:
                if file in removed:
                    file.unlink()
                else:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    replace_file(file, change.after.data)
        except OSError as error:
            await self._take_back(checkpoints, plan)
            raise FileError(f"the changes were not applied: {error.strerror}") from error
        except FileError:
            await self._take_back(checkpoints, plan)
            raise
        await checkpoints.seal(created.checkpoint_id)
        self._services.verifier.record_file_change(None)
        return plan

    async def _take_back(self, checkpoints: Checkpoints, plan: UndoPlan) -> None:
        """Restore the files of a write that failed in the middle."""
        for checkpoint_id in plan.checkpoints:
            await checkpoints.seal(checkpoint_id)
        await checkpoints.restore(plan.checkpoints, turn=plan.turn, force=True)

    def _require_saved(self, files: list[Path]) -> None:
        """Raise StaleDocument if an editor has an unsaved text of a file: it would overwrite the change."""
        for file in files:
            text = self._services.find_text(file.as_uri())
            if text is None:
                continue
            try:
                saved = read_file(file, MAX_TEXT_BYTES)
            except FileMissing:
                saved = b""
            if text.data != saved:
                raise StaleDocument(f"{file} has unsaved changes in the editor; save it and apply again")

    def _open_checkpoints(
        self,
        root: Path,
        record: Callable[[CheckpointCreated | EditReverted], object],
        guard: RestorationGuard | None = None,
    ) -> Checkpoints:
        return Checkpoints(root, paths.state_folder() / "checkpoints", record, guard)


Publish = Callable[[str, EventName, Mapping[str, Any]], object]
"""Publishes an event of an agent."""
WORKTREES = "worktrees"


@dataclass(slots=True)
class IsolatedAgent:
    """An agent with a worktree of its own.

    Attributes:
        record: The facts about the worktree that outlive this process.
        root: The folder of the user in which its changes may be applied.
        review: The last review, or None.
        lock: Held while its changes are read, applied or discarded.
    """

    record: WorktreeRecord
    root: Path
    review: ChangeReview | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def worktree(self) -> Worktree:
        """The worktree."""
        return self.record.worktree


class AgentWorktrees:
    """The worktrees of the agents of one client.

    Nothing that an agent changed reaches the folder of the user before its verdict is passed and the permission gate
    allows it, and a checkpoint of the files undoes it.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        publish: Publishes an event of an agent.
    """

    def __init__(self, services: Services, publish: Publish) -> None:
        self._services, self._publish = services, publish
        self._writer = ChangeWriter(services)
        self._by_folder: dict[Path, IsolatedAgent] = {}
        self._by_agent: dict[str, IsolatedAgent] = {}

    @property
    def records(self) -> WorktreeRecords:
        """The records of all worktrees."""
        return WorktreeRecords(self.folder)

    @property
    def folder(self) -> Path:
        """The private folder in which all worktrees are. Agents may work in it."""
        return paths.state_folder() / "agents" / WORKTREES

    async def isolate(self, spec: AgentSpec) -> AgentSpec:
        """Return the description of an agent with the folder in which it works: a new worktree, if it wants one.

        Raises:
            InvalidSpec: There can be no worktree of its folder.
        """
        if spec.isolation != "worktree":
            return spec
        worktree = await Worktree.create(resolve_links(spec.workdir), self.folder)
        record = WorktreeRecord(worktree, type=spec.type, name=spec.name)
        root = self._find_root(record) or worktree.repository
        self._by_folder[worktree.workdir] = IsolatedAgent(record, root)
        self.records.write(record)
        return replace(spec, workdir=worktree.workdir)

    def adopt(self, agent_id: str, spec: AgentSpec) -> None:
        """Give the worktree that was made for a description to the agent that was started with it."""
        if isolated := self._by_folder.pop(spec.workdir, None):
            self._by_agent[agent_id] = isolated
            self._write_record(isolated, replace(isolated.record, agent_id=agent_id))

    async def abandon(self, spec: AgentSpec) -> None:
        """Remove the worktree that was made for a description whose agent could not be started."""
        if isolated := self._by_folder.pop(spec.workdir, None):
            await self._remove(isolated)

    def adapt_policy(self, policy: GatePolicy, workdir: Path) -> GatePolicy:
        """Return the policy for an agent in a folder: it may edit its worktree, although that is in a folder of ours.

        Its folder is the only root of the policy, so that everything else of ours stays closed.
        """
        if not workdir.is_relative_to(self.folder):
            return policy
        kept = tuple(folder for folder in policy.protected.protected if not workdir.is_relative_to(folder))
        return replace(policy, protected=replace(policy.protected, protected=kept))

    def find(self, agent_id: str) -> IsolatedAgent | None:
        """Return an agent with a worktree, or None if it has none."""
        return self._by_agent.get(agent_id)

    async def review(self, agent_id: str, name: str = "") -> ChangeReview:
        """Verify what an agent has changed until now, and publish `files_changed` and `verified`.

        Changes that are those of the last review are not verified again.

        Raises:
            UsageError: The agent has no worktree.
            GitFailed: The worktree is damaged.
        """
        isolated = self._require(agent_id)
        async with isolated.lock:
            found, more = await isolated.worktree.read_changes()
            known = isolated.review
            if known and known.id == hash_changes(found):
                return known
            review = await review_changes(
                self._services, isolated.root, isolated.worktree.repository, found, author=name or agent_id
            )
            if more:
                reason = "the agent changed too many files; merge its branch with git"
                review = replace(review, left_out={**review.left_out, f"{more} more files": reason})
            isolated.review = review
        if not review.is_empty:
            fields = review.fields(isolated.root)
            self._publish(agent_id, "files_changed", {"paths": [file["path"] for file in fields["files"]]})
            self._publish(agent_id, "verified", {**fields, "branch": isolated.worktree.branch})
        return review

    def require_review(self, agent_id: str) -> ChangeReview:
        """Return the last review of the changes of an agent. Nothing is verified.

        Raises:
            UsageError: The agent has no worktree.
            FileMissing: There is no review since the start, or since the last application.
        """
        if review := self._require(agent_id).review:
            return review
        raise FileMissing("the changes of this agent were not verified yet; verify them first")

    async def apply(self, agent_id: str, review_id: str, *, unchecked: bool = False) -> ChangeReview:
        """Write the changes of a review to the folder of the user. The request is the answer to `Apply?`.

        Args:
            agent_id: The id of the agent.
            review_id: The review that the user saw. What the agent changed since is not applied.
            unchecked: Whether the user wants changes that no check can read. A failed check refuses them anyway.

        Raises:
            UsageError: There is no such review, its verdict is not passed, or the settings do not allow it.
            StaleDocument: A file of the user has changed since the agent began.
            FileError: A file cannot be written. Then none is changed.
        """
        isolated = self._require(agent_id)
        async with isolated.lock:
            review = isolated.review
            if review is None or not review.id or review.id != review_id:
                raise UsageError("there is no such review of this agent; review its changes again")
            require_applicable(review, unchecked=unchecked)
            turn = self._begin("apply the changes of an agent")
            event_id = review.event_id
            ending = Ending("completed", "applied")
            try:
                # the event of an edit that is not checked says so
                event_id = (
                    event_id or turn.append(EditProposed(review.verdict.hash, redact(review.diff), review.summary)).id
                )
                plan = await self._writer.write(isolated.root, replace(review, event_id=event_id), turn)
                self._write_record(isolated, replace(isolated.record, undo=plan))
                turn.append(EditApplied(event_id))
                isolated.review = None
            except StaleDocument:
                turn.append(EditStale(review.verdict.hash))
                ending = Ending("error", "stale")
                raise
            except BaseException as error:
                turn.append(EditRejected(event_id, str(error)))
                ending = Ending("error", "not applied")
                raise
            finally:
                self._services.session.end_turn(turn, ending)
        return review

    async def undo(self, agent_id: str, *, force: bool = False) -> UndoResult:
        """Give the files that were applied last the texts that they had before.

        Args:
            agent_id: The id of the agent.
            force: Also restore files that somebody changed since.

        Raises:
            UsageError: Nothing was applied.
            StaleDocument: Somebody has changed a file since.
        """
        isolated = self._require(agent_id)
        async with isolated.lock:
            if isolated.record.undo is None:
                raise UsageError("nothing of this agent was applied, so there is nothing to undo")
            plan = isolated.record.undo
            result = await self._writer.undo(isolated.root, plan, force=force)
            self._write_record(isolated, replace(isolated.record, undo=None))
        self._services.verifier.record_file_change(None)
        return result

    async def discard(self, agent_id: str) -> None:
        """Remove the worktree and the branch of an agent with everything in them. End the agent before.

        Raises:
            UsageError: The agent has no worktree.
        """
        isolated = self._require(agent_id)
        async with isolated.lock:
            if isolated.review and isolated.review.verdict.passed:
                turn = self._begin("discard the changes of an agent")
                turn.append(EditRejected(isolated.review.event_id, "the user discarded the changes"))
                self._services.session.end_turn(turn, Ending("completed", "discarded"))
            await self._remove(isolated)
            isolated.review = None

    async def list_records(self) -> list[WorktreeRecord]:
        """Return all worktrees of the folders of this client, also those that earlier processes left."""
        return [record for record in await self.records.read_all() if self._find_root(record)]

    async def reopen(self, agent_id: str) -> WorktreeRecord | None:
        """Take charge of a worktree that an earlier process left, and return its record. None if there is none.

        Args:
            agent_id: The id of the agent, or of a worktree without one.

        Raises:
            UsageError: Another process that runs is in charge of it.
        """
        if isolated := self._by_agent.get(agent_id):
            return isolated.record
        record = next((record for record in await self.list_records() if record.id == agent_id.upper()), None)
        if record is None:
            return None
        if record.is_taken:
            raise UsageError(f"the process {record.server.pid} of lsp-harness is in charge of this worktree; ask it")
        isolated = IsolatedAgent(record.claim(), self._find_root(record) or record.worktree.repository)
        self._by_agent[record.id] = isolated
        self.records.write(isolated.record)
        return isolated.record

    def _find_root(self, record: WorktreeRecord) -> Path | None:
        """Return the folder of this client in which the changes of a worktree may be applied, or None."""
        roots = [resolve_links(root) for root in self._services.workspace.roots]
        for folder in (record.worktree.repository, record.user_folder):
            if root := next((root for root in roots if folder.is_relative_to(root)), None):
                return root
        return None

    def _write_record(self, isolated: IsolatedAgent, record: WorktreeRecord) -> None:
        isolated.record = record
        self.records.write(record)

    async def _remove(self, isolated: IsolatedAgent) -> None:
        await isolated.worktree.discard()
        self.records.remove(isolated.worktree)

    def _require(self, agent_id: str) -> IsolatedAgent:
        isolated = self._by_agent.get(agent_id)
        if isolated is None:
            raise UsageError("this agent has no worktree; start it with the isolation worktree")
        return isolated

    def _begin(self, text: str) -> Turn:
        return self._services.session.begin_turn(Ingress("command", text, source="agent"))
