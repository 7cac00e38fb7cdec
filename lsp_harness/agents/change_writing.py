"""The writing of the changes of an agent to the folder of the user, with checkpoints that undo it."""

from collections.abc import Callable
from pathlib import Path

from lsp_harness.agents.change_review import Review
from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import replace_file
from lsp_harness.errors import FileError, FileMissing, StaleDocument
from lsp_harness.events.code_events import EditReverted
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.tool_events import CheckpointCreated
from lsp_harness.harness.edits.proposals import require_unchanged
from lsp_harness.harness.services import Services
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints, RestorationGuard
from lsp_harness.kernel.checkpoints.undo_plan import UndoPlan
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.results import Proposal
from lsp_harness.sessions.session_undo import UndoResult, restore_turn
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.verify.change_set import ChangeSet


class ChangeWriter:
    """Writes changes that were reviewed, and undoes them.

    Args:
        services: The shared parts of the harness.
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
        checkpoints = self._checkpoints(root, self._services.session.log.append, self._services.permission.undo_guard)
        return await restore_turn(checkpoints, plan, force=force)

    async def write(self, root: Path, review: Review, turn: Turn) -> UndoPlan:
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

        checkpoints = self._checkpoints(root, record)
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

    def _checkpoints(
        self,
        root: Path,
        record: Callable[[CheckpointCreated | EditReverted], object],
        guard: RestorationGuard | None = None,
    ) -> Checkpoints:
        return Checkpoints(root, paths.state_folder() / "checkpoints", record, guard)
