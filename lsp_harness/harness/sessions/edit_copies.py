"""The checkpoints of edits by tools: a copy before each edit, and the state after it."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.session.checkpoints.checkpoints import Checkpoints


class EditCopies:
    """Copies files before they are edited, and notes their state afterwards, so that only our edits are undone.

    Args:
        checkpoints: Keeps the copies.
    """

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints
        self._unsealed: list[str] = []

    async def keep(self, paths: Sequence[Path]) -> None:
        """Copy files before an edit. Raises HarnessError, and then the edit must not happen."""
        created = await self._checkpoints.capture(paths)
        self._unsealed.append(created.checkpoint_id)

    async def seal(self) -> None:
        """Note the state of the files that were edited since the last call."""
        while self._unsealed:
            await self._checkpoints.seal(self._unsealed.pop())
