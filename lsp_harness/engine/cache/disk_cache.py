"""Recently used sequences on disk, so that a restarted engine need not evaluate a file again.

There is one folder for each model file and set of context parameters, and one file for each sequence. llama.cpp writes
the file (`llama_state_seq_save_file`). Its name is `<hash of the tokens>-<hash of the bytes>.kv`, or
`<hash of the tokens>-<hash of the bytes>-<number of unmoved tokens>.kv` if some tokens were moved. A file that does not
match its name is damaged or comes from elsewhere: it is removed and the log says so. A sequence is written only if
every request that contributed to it allowed that.
"""

import hashlib
import os
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Any, Protocol

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.engine.cache.cached_sequence import ALL_TOKENS, CachedSequence, common_prefix_length
from lsp_harness.engine.cache.host_cache import HostSequence
from lsp_harness.engine.cache.kv_cache import KvCache
from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.errors import FileError

HEADER = struct.Struct("<III")
"""The header of llama.cpp's sequence state: magic number, version, number of tokens. The tokens follow as int32."""
MAGIC = 0x67677371
MAX_FILE_TOKENS = 1_000_000
"""A file that claims more tokens is damaged."""
DRAFT_TIMEOUT_NS = 600 * 10**9
"""Age until which an unfinished file may still be written by another engine."""


class StateFileMemory(Protocol):
    """The operations of llama.cpp's memory that read and write the state of one sequence."""

    def save_state(self, seq: int, tokens: Sequence[int], file: Path) -> bool: ...
    def write_state(self, tokens: Sequence[int], state: Any, file: Path) -> None: ...
    def restore_state(self, seq: int, file: Path, max_tokens: int) -> list[int]: ...
    def truncate(self, seq: int, length: int) -> bool: ...


class DiskCache:
    """The sequences in one folder. An error on disk never makes a request fail.

    Args:
        memory: The memory of the model.
        folder: The folder of this model and these context parameters. It is created if needed.
        max_bytes: Size of all files in `folder` and in the folders beside it.
    """

    MIN_GAIN_TOKENS = 64
    """Tokens that reading or writing a file must save at least."""
    MIN_EVICTED_TOKENS = 256
    """Sequences from this length on are written when they are evicted: to evaluate them again takes long."""

    def __init__(self, memory: StateFileMemory, folder: Path, max_bytes: int) -> None:
        self._memory = memory
        self._folder = folder
        self._max_bytes = max_bytes
        self._files: dict[Path, list[int]] = {}
        self.restored_count = self.written_count = 0
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in sorted(folder.iterdir(), key=_last_used_ns):
            if file.suffix == ".tmp" and time_ns() - _last_used_ns(file) < DRAFT_TIMEOUT_NS:
                continue
            tokens = _read_tokens(file) if file.suffix == ".kv" else None
            if tokens:
                self._files[file] = tokens
            else:
                _log(f"{file.name} is not a saved prompt of this engine; it was deleted")
                self._remove(file)

    def restore(
        self, kv: KvCache, prompt: Sequence[int], client: str, *, shift_client: str | None = None, urgent: bool = False
    ) -> None:
        """Read the best file back into the cells if `prompt` shares clearly more with it than with the cells.

        Any client that accepts moved tokens may get those of a file: a sequence with moved tokens is written only if
        its source could be written, too.

        Args:
            kv: The cells of the KV cache.
            prompt: The tokens of the request.
            client: The client that sent the request.
            shift_client: The client if it accepts moved tokens, else None.
            urgent: Whether the request may take the spare cells and slots.
        """
        cached = kv.cached_length(prompt, shift_client)
        while True:
            matches = [
                (
                    min(
                        common_prefix_length(tokens, prompt),
                        ALL_TOKENS if shift_client is not None else _read_unmoved(file),
                    ),
                    file,
                )
                for file, tokens in self._files.items()
            ]
            length, file = max(matches, default=(0, self._folder))
            if length - cached < self.MIN_GAIN_TOKENS:
                return
            if not file.exists():
                # Another engine has removed the file because it needed the room.
                del self._files[file]
                continue
            tokens = self._files[file]
            slot = kv.find_empty_slot(client, len(tokens), urgent=urgent)
            if slot is None:
                return
            if _is_intact(file) and self._memory.restore_state(slot.seq, file, len(tokens)) == tokens:
                kv.append(slot, tokens)
                slot.persist, slot.stored_tokens, slot.unmoved_tokens = True, len(tokens), _read_unmoved(file)
                self.restored_count += 1
                with suppress(OSError):
                    os.utime(file)
                return
            self._memory.truncate(slot.seq, 0)
            _log(f"{file.name} is damaged; it was deleted")
            self._remove(file)

    def save(self, sequence: CachedSequence) -> bool:
        """Write a sequence unless a file has it already or a request forbids it.

        Returns:
            Whether a file was written.
        """
        tokens = sequence.tokens
        if not sequence.persist or len(tokens) - sequence.stored_tokens < self.MIN_GAIN_TOKENS:
            return False
        sequence.stored_tokens = len(tokens)
        self._files = {file: stored for file, stored in self._files.items() if file.exists()}
        unmoved = min(sequence.unmoved_tokens, len(tokens))
        if any(
            _read_unmoved(file) >= unmoved and self._has_nearly_all(tokens, stored)
            for file, stored in self._files.items()
        ):
            return False
        draft = self._folder / f"draft-{os.getpid()}.tmp"
        try:
            # llama.cpp would wait for a reader if a named pipe had this name.
            draft.unlink(missing_ok=True)
            self._write(sequence, draft)
            draft.chmod(0o600)
            name = hashlib.sha256(struct.pack(f"<{len(tokens)}i", *tokens)).hexdigest()[:16]
            suffix = f"-{unmoved}" if unmoved < len(tokens) else ""
            file = self._folder / f"{name}-{_hash_file(draft)}{suffix}.kv"
            draft.replace(file)
        except (OSError, FileError) as error:
            self._remove(draft)
            _log(f"a prompt could not be saved: {error}")
            return False
        # The files that this sequence continues are not needed any more.
        for other, stored in list(self._files.items()):
            is_as_unmoved = sequence.unmoved_tokens >= min(_read_unmoved(other), len(stored))
            if is_as_unmoved and self._has_nearly_all(stored, tokens):
                self._remove(other)
        self._files[file] = list(tokens)
        self.written_count += 1
        for removed in prune_folders(self._folder.parent, self._max_bytes):
            self._files.pop(removed, None)
        return True

    def save_evicted(self, sequence: CachedSequence) -> None:
        """Write a sequence that is about to be evicted if its evaluation takes long."""
        if len(sequence.tokens) >= self.MIN_EVICTED_TOKENS:
            self.save(sequence)

    def _has_nearly_all(self, tokens: Sequence[int], stored: Sequence[int]) -> bool:
        """Return whether `stored` has all but a few of `tokens`."""
        return common_prefix_length(stored, tokens) > len(tokens) - self.MIN_GAIN_TOKENS

    def _write(self, sequence: CachedSequence, file: Path) -> None:
        if isinstance(sequence, HostSequence):
            self._memory.write_state(sequence.tokens, sequence.state, file)
        elif not (isinstance(sequence, Slot) and self._memory.save_state(sequence.seq, sequence.tokens, file)):
            raise OSError("llama.cpp could not write the file")

    def _remove(self, file: Path) -> None:
        self._files.pop(file, None)
        with suppress(OSError):
            file.unlink()


def prune_folders(root: Path, max_bytes: int) -> list[Path]:
    """Remove the files used longest ago from all folders in `root`, until the rest has at most `max_bytes`.

    Unfinished files that no engine is writing any more are removed, too.

    Returns:
        The sequences that were removed.
    """
    removed: list[Path] = []
    for draft in root.glob("*/*.tmp"):
        if time_ns() - _last_used_ns(draft) > DRAFT_TIMEOUT_NS:
            with suppress(OSError):
                draft.unlink()
    for file in sorted(root.glob("*/*.kv"), key=_last_used_ns, reverse=True):
        max_bytes -= _file_size(file)
        if max_bytes < 0:
            with suppress(OSError):
                file.unlink()
                removed.append(file)
    return removed


def _last_used_ns(file: Path) -> int:
    """Return when the file was last used, or 0 if it does not exist."""
    try:
        return file.lstat().st_mtime_ns
    except OSError:
        return 0


def _file_size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0


def _read_tokens(file: Path) -> list[int] | None:
    """Return the tokens of a file, or None if its header or its name is wrong."""
    try:
        with open_regular(file) as stream:
            magic, _, count = HEADER.unpack(stream.read(HEADER.size))
            data = stream.read(4 * count) if magic == MAGIC and count < MAX_FILE_TOKENS else b""
    except (OSError, FileError, struct.error):
        return None
    if not data or len(data) != 4 * count:
        return None
    name = hashlib.sha256(data).hexdigest()[:16]
    return list(struct.unpack(f"<{count}i", data)) if file.name.startswith(name + "-") else None


def _hash_file(file: Path) -> str:
    with open_regular(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:32]


def _is_intact(file: Path) -> bool:
    """Return whether the bytes of the file match its name."""
    try:
        return file.stem.split("-")[1:2] == [_hash_file(file)]
    except (OSError, FileError):
        return False


def _read_unmoved(file: Path) -> int:
    """Return the `CachedSequence.unmoved_tokens` of the sequence in the file."""
    number = "".join(file.stem.split("-")[2:])
    return int(number) if number.isdecimal() else ALL_TOKENS


def _log(line: str) -> None:
    sys.stderr.write(f"saved prompts: {line}\n")
