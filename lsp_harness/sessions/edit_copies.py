"""The checkpoints of edits and commands by tools: a copy before each, and the state after it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import HarnessError
from lsp_harness.events.tool_events import CheckpointCreated
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints

FOLDER_LIMIT_S = 5.0
"""Time for a copy of the whole folder. In a folder that needs more, what commands change cannot be undone."""


class EditCopies:
    """Copies files before they are changed, and notes their state afterwards, so that only our changes are undone.

    Args:
        checkpoints: Stores the copies.
        record: Appends an event to the log of the session.
        on_change: Receives the paths of the files that an edit or a command changed.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        record: Callable[[CheckpointCreated], object],
        on_change: Callable[[Sequence[str]], Awaitable[object]] | None = None,
    ) -> None:
        self._checkpoints = checkpoints
        self._record = record
        self._on_change = on_change
        self._unsealed: list[str] = []
        self._folder_copy: CheckpointCreated | None = None
        self._runs_command = False
        self._is_too_large = False

    async def keep(self, contents: Mapping[Path, bytes | None]) -> None:
        """Copy files before an edit. Raises HarnessError, and then the edit must not happen.

        Args:
            contents: The file → the content that it will have, or None if it is removed.
        """
        created = await self._checkpoints.capture_edit(contents)
        self._unsealed.append(created.checkpoint_id)

    async def keep_folder(self) -> None:
        """Copy all files before a command, which may change any of them. The command runs in any case.

        The log only has the copies before commands that changed something. The others are used again.
        """
        if self._is_too_large:
            return
        started_s = monotonic()
        try:
            if self._folder_copy is None or await self._checkpoints.seal(self._folder_copy.checkpoint_id):
                self._folder_copy = await self._checkpoints.capture(is_recorded=False)
            self._runs_command = True
        except HarnessError as error:
            self._folder_copy = None
            warn_once(f"what commands change cannot be undone: {error.message}")
        if monotonic() - started_s > FOLDER_LIMIT_S:
            self._is_too_large, self._folder_copy = True, None
            warn_once(
                "what commands change cannot be undone here: the folder has too many files to copy them each time"
            )

    async def seal(self) -> None:
        """Note the state of the files that were changed since the last call. What was done counts in any case."""
        while self._unsealed:
            await self._report(await self._seal_checkpoint(self._unsealed.pop()))
        copy = self._folder_copy
        if copy and self._runs_command:
            self._runs_command = False
            if changed := await self._seal_checkpoint(copy.checkpoint_id):
                self._folder_copy = None
                self._record(replace(copy, paths=tuple(sorted(changed))))
                await self._report(changed)

    async def _seal_checkpoint(self, checkpoint_id: str) -> Sequence[str]:
        try:
            return await self._checkpoints.seal(checkpoint_id)
        except HarnessError as error:
            # the file is written, and its call must not be reported as failed
            warn_once(f"what the last call changed may not be undone: {error.message}")
            return ()

    async def _report(self, changed: Sequence[str]) -> None:
        if changed and self._on_change:
            await self._on_change(changed)
