"""The saved contents of one folder, in the stores that work on this machine."""

import asyncio
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError
from lsp_harness.kernel.checkpoints.checkpoint_file import Checkpoint, StoreKind
from lsp_harness.kernel.checkpoints.content_store import ContentStore, CopyStore, GitStore, StoreUnavailable
from lsp_harness.kernel.checkpoints.file_state import ABSENT, FileState, content_digest, may_be_saved, read_state
from lsp_harness.kernel.checkpoints.file_swap import left_files
from lsp_harness.kernel.checkpoints.turn_changes import FileChange


class FolderContents:
    """The contents of files in the checkpoints of one folder: in a git directory of our own, or else in copies.

    Args:
        root: The workspace folder.
        folder: The folder of our own for it.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder

    def stores(self) -> Iterator[ContentStore]:
        """Yield the stores that work, the best one first."""
        with suppress(StoreUnavailable):
            yield GitStore(self._folder / "git", self._root)
        yield CopyStore(self._folder / "copies")

    async def save(
        self, store: ContentStore, states: Mapping[str, FileState], known: Checkpoint | None, deadline: float
    ) -> dict[str, FileState]:
        """Save the contents that are not known, and return the states of all that are saved."""
        saved: dict[str, FileState] = {}
        for path, state in states.items():
            earlier = known.state_before(path) if known and known.kind == store.kind else ABSENT
            if known and earlier.is_saved and state.is_untouched(earlier, known.created_ns):
                saved[path] = earlier
        new = {path: state for path, state in states.items() if path not in saved}
        for path, digest in (await store.save(self._root, new, deadline)).items():
            saved[path] = states[path]._replace(digest=digest, is_saved=True)
        return saved

    async def plan(self, checkpoint: Checkpoint, path: str, data: bytes | None) -> FileState:
        """Return the state that a file will have when this program has written it. Its content is saved."""
        if data is None:
            return ABSENT
        before = checkpoint.state_before(path)
        mode = stat.S_IFREG | 0o600 if before.is_absent else before.mode
        state = FileState(mode, content_digest(data), len(data))
        if not may_be_saved(path, state):
            return state
        with suppress(StoreUnavailable):
            return state._replace(is_saved=await self._store(checkpoint.kind).save_text(data) == state.digest)
        return state

    async def save_after(
        self, checkpoint: Checkpoint, after: Mapping[str, FileState], deadline: float
    ) -> dict[str, FileState]:
        """Save the contents after a turn, and return the states of those that are saved."""
        new = {path: state for path, state in after.items() if state.digest and may_be_saved(path, state)}
        try:
            digests = await self._store(checkpoint.kind).save(self._root, new, deadline) if new else {}
        except StoreUnavailable:
            # the texts before the turn, which an undo needs, are saved
            return {}
        return {
            path: after[path]._replace(is_saved=True)
            for path, digest in digests.items()
            if digest == after[path].digest
        }

    async def keep_after(self, checkpoint: Checkpoint) -> None:
        """Keep the contents after a turn as long as those before it."""
        saved = {path: state for path, state in (checkpoint.after or {}).items() if state.is_saved}
        if saved:
            with suppress(StoreUnavailable):
                await self._store(checkpoint.kind).keep(checkpoint.id, saved, "-after")

    async def read(self, state: FileState, kind: StoreKind) -> bytes:
        """Return the content with a hash. Raises FileError."""
        try:
            return (await self._store(kind).read([state.digest]))[state.digest]
        except StoreUnavailable as error:
            raise FileError(f"the checkpoint cannot be read: {error}") from error

    async def read_all(self, kinds: Mapping[str, StoreKind]) -> dict[str, bytes]:
        """Return hash → content for hashes and the stores that have them. Raises FileError."""
        contents: dict[str, bytes] = {}
        for store in self.stores():
            contents.update(await store.read([digest for digest, kind in kinds.items() if kind == store.kind]))
        if missing := kinds.keys() - contents.keys():
            raise FileError(f"the checkpoint needs git, which is not installed: {len(missing)} contents are missing")
        return contents

    async def knows(self, digest: str) -> bool:
        """Return whether a content is saved in any store."""
        return any([await store.known([digest]) for store in self.stores()])

    async def write_texts(self, path: str, change: FileChange, folder: Path) -> dict[str, Path]:
        """Write the texts of a file before and after its change to a folder of ours. Raises FileError.

        Returns:
            `before` and `after` → the file with this text, as far as it was saved.
        """
        written: dict[str, Path] = {}
        states = (("before", change.before, change.checkpoint), ("after", change.after, change.last))
        for name, state, checkpoint in states:
            if state.is_saved:
                written[name] = folder / name / path
                data = await self.read(state, checkpoint.kind)
                await asyncio.to_thread(_write_text, written[name], data)
        return written

    async def clear_left(self) -> None:
        """Remove the files that a killed restoration left, as far as their texts are saved."""
        for file in await asyncio.to_thread(lambda: list(left_files(self._root))):
            state = await asyncio.to_thread(read_state, file.parent, file.name)
            if await self.knows(state.digest):
                with suppress(OSError):
                    file.unlink()
            else:
                warn_once(f"{file} is what a restoration that was cut off left, and perhaps a text of yours")
        # those that are empty now
        await asyncio.to_thread(lambda: list(left_files(self._root)))

    async def drop(self, checkpoint_ids: Collection[str], needed: Collection[str]) -> None:
        """Forget checkpoints, and remove the contents that no other one needs."""
        for store in self.stores():
            with suppress(StoreUnavailable):
                await store.drop(checkpoint_ids, needed)

    def _store(self, kind: StoreKind) -> ContentStore:
        """Return the store of a kind. Raises StoreUnavailable."""
        return GitStore(self._folder / "git", self._root) if kind == "git" else CopyStore(self._folder / "copies")


def _write_text(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_own_file(file, data)
    except OSError as error:
        raise FileError(f"{file} cannot be written: {describe_system_error(error).lower()}") from error
