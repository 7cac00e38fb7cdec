"""The checkpoints of edits by tools: a copy before each edit, and the state after it."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from lsp_harness.session.checkpoints.checkpoints import Checkpoints


class EditCopies:
    """Copies files before they are edited, and notes their state afterwards, so that only our edits are undone.

    Args:
        checkpoints: Keeps the copies.
        on_change: Receives the paths of the files that an edit changed.
    """

    def __init__(
        self, checkpoints: Checkpoints, on_change: Callable[[Sequence[str]], Awaitable[object]] | None = None
    ) -> None:
        self._checkpoints = checkpoints
        self._on_change = on_change
        self._unsealed: list[str] = []

    async def keep(self, paths: Sequence[Path]) -> None:
        """Copy files before an edit. Raises HarnessError, and then the edit must not happen."""
        created = await self._checkpoints.capture(paths)
        self._unsealed.append(created.checkpoint_id)

    async def seal(self) -> None:
        """Note the state of the files that were edited since the last call."""
        while self._unsealed:
            changed = await self._checkpoints.seal(self._unsealed.pop())
            if changed and self._on_change:
                await self._on_change(changed)
