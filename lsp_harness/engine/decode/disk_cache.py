"""Hot sequences on disk, so that a restarted engine need not read a file again.

One folder per model file and context parameters, one file per sequence, written by llama.cpp
(`llama_state_seq_save_file`) and named `<hash of the tokens>-<hash of the bytes>.kv`, with `-<how many are pure>` where
some were moved: what does not match its name is damaged or foreign, and is removed with a line in the log. Only sequences whose every request allowed it are written.
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
from lsp_harness.engine.decode.cached_sequence import ENDLESS, Held, common
from lsp_harness.engine.decode.host_cache import Parked
from lsp_harness.engine.decode.kv_cache import Kv, Slot
from lsp_harness.errors import FileError

HEADER = struct.Struct("<III")
"""llama.cpp's sequence state: magic, version, number of tokens; then the tokens as int32."""
MAGIC = 0x67677371
YOUNG = 600 * 10**9
"""Nanoseconds for which a half-written file may be another engine's."""


class Store(Protocol):
    """What llama.cpp can do with one sequence's state."""

    def save(self, seq: int, tokens: Sequence[int], file: Path) -> bool: ...
    def write(self, tokens: Sequence[int], state: Any, file: Path) -> None: ...
    def restore(self, seq: int, file: Path, most: int) -> list[int]: ...
    def cut(self, seq: int, length: int) -> bool: ...


class Saved:
    """The sequences in `folder`, at most `limit` bytes with those of the folders beside it.

    Nothing that fails here fails a request.
    """

    LEAST = 64
    """Tokens that reading must save over evaluating them."""

    DEAR = 256

    def __init__(self, store: Store, folder: Path, limit: int) -> None:
        self._store = store
        self._folder = folder
        self._limit = limit
        self._files: dict[Path, list[int]] = {}
        self.restored = self.written = 0
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in sorted(folder.iterdir(), key=_age):
            if file.suffix == ".tmp" and time_ns() - _age(file) < YOUNG:
                # another engine is just leaving
                continue
            tokens = _tokens(file) if file.suffix == ".kv" else None
            if tokens:
                self._files[file] = tokens
            else:
                _say(f"{file.name} is not a saved prompt of this engine; it was deleted")
                self._remove(file)

    def fetch(
        self, kv: Kv, prompt: Sequence[int], client: str, *, mover: str | None = None, urgent: bool = False
    ) -> None:
        """Make what is on disk of `prompt` resident, if it is clearly more than what is.

        What was moved (see `Held.pure`) is anybody's who takes moved cells: only those are written whose source might be.
        """
        have = kv.resident(prompt, mover)
        while True:
            shared = [
                (min(common(tokens, prompt), _pure(file) if mover is None else ENDLESS), file)
                for file, tokens in self._files.items()
            ]
            length, file = max(shared, default=(0, self._folder))
            if length - have < self.LEAST:
                return
            if not file.exists():
                # another engine needed the room
                del self._files[file]
                continue
            tokens = self._files[file]
            slot = kv.vacant(client, len(tokens), urgent=urgent)
            if slot is None:
                return
            if _whole(file) and (read := self._store.restore(slot.seq, file, len(tokens))) == tokens:
                kv.grow(slot, read)
                slot.persist, slot.stored, slot.pure = True, len(tokens), _pure(file)
                self.restored += 1
                with suppress(OSError):
                    os.utime(file)
                return
            self._store.cut(slot.seq, 0)
            _say(f"{file.name} is damaged; it was deleted")
            self._remove(file)

    def keep(self, held: Held) -> bool:
        """Write a sequence, unless it may not be or is there already. True when something was written."""
        tokens = held.tokens
        if not held.persist or len(tokens) - held.stored < self.LEAST:
            return False
        held.stored = len(tokens)
        self._files = {file: known for file, known in self._files.items() if file.exists()}
        pure = min(held.pure, len(tokens))
        if any(_pure(f) >= pure and common(t, tokens) > len(tokens) - self.LEAST for f, t in self._files.items()):
            return False
        draft = self._folder / f"draft-{os.getpid()}.tmp"
        try:
            # llama.cpp would wait at a pipe
            draft.unlink(missing_ok=True)
            self._write(held, draft)
            draft.chmod(0o600)
            name = hashlib.sha256(struct.pack(f"<{len(tokens)}i", *tokens)).hexdigest()[:16]
            end = f"-{pure}" if pure < len(tokens) else ""
            file = self._folder / f"{name}-{_digest(draft)}{end}.kv"
            draft.replace(file)
        except (OSError, FileError) as error:
            self._remove(draft)
            _say(f"a prompt could not be saved: {error}")
            return False
        # what this one continues is not needed any more
        for other, known in list(self._files.items()):
            if held.pure >= min(_pure(other), len(known)) and common(known, tokens) > len(known) - self.LEAST:
                self._remove(other)
        self._files[file] = list(tokens)
        self.written += 1
        self._fit()
        return True

    def leave(self, held: Held) -> None:
        """A sequence is about to be given up: keep it when evaluating it again would be dear."""
        if len(held.tokens) >= self.DEAR:
            self.keep(held)

    def _write(self, held: Held, file: Path) -> None:
        if isinstance(held, Parked):
            self._store.write(held.tokens, held.state, file)
        elif not (isinstance(held, Slot) and self._store.save(held.seq, held.tokens, file)):
            raise OSError("llama.cpp could not write it")

    def _fit(self) -> None:
        for file in prune(self._folder.parent, self._limit):
            self._files.pop(file, None)

    def _remove(self, file: Path) -> None:
        self._files.pop(file, None)
        with suppress(OSError):
            file.unlink()


def prune(root: Path, limit: int) -> list[Path]:
    """Of the sequences in all folders of `root`, remove those used longest ago until `limit` bytes are left.

    Drafts that nobody finishes any more go, too. Returns the sequences that were removed.
    """
    removed: list[Path] = []
    for draft in root.glob("*/*.tmp"):
        if time_ns() - _age(draft) > YOUNG:
            with suppress(OSError):
                draft.unlink()
    for file in sorted(root.glob("*/*.kv"), key=_age, reverse=True):
        limit -= _size(file)
        if limit < 0:
            with suppress(OSError):
                file.unlink()
                removed.append(file)
    return removed


def _age(file: Path) -> int:
    """When it was last used, in nanoseconds; 0 when it is gone."""
    try:
        return file.lstat().st_mtime_ns
    except OSError:
        return 0


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0


def _tokens(file: Path) -> list[int] | None:
    """The tokens a file says it holds, if it looks like one of ours."""
    try:
        with open_regular(file) as data:
            magic, _, count = HEADER.unpack(data.read(HEADER.size))
            held = data.read(4 * count) if magic == MAGIC and count < 1_000_000 else b""
    except (OSError, FileError, struct.error):
        return None
    if not held or len(held) != 4 * count:
        return None
    name = hashlib.sha256(held).hexdigest()[:16]
    return list(struct.unpack(f"<{count}i", held)) if file.name.startswith(name + "-") else None


def _digest(file: Path) -> str:
    with open_regular(file) as data:
        return hashlib.file_digest(data, "sha256").hexdigest()[:32]


def _whole(file: Path) -> bool:
    try:
        return file.stem.split("-")[1:2] == [_digest(file)]
    except (OSError, FileError):
        return False


def _pure(file: Path) -> int:
    """`Held.pure` of what it holds."""
    number = "".join(file.stem.split("-")[2:])
    return int(number) if number.isdecimal() else ENDLESS


def _say(line: str) -> None:
    sys.stderr.write(f"saved prompts: {line}\n")
