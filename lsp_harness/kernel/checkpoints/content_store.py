"""The stores of file contents: a git directory of our own, or copies."""

import asyncio
import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Literal, Protocol, get_args

from lsp_harness.disk.file_reading import describe_system_error, open_regular
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError
from lsp_harness.kernel.checkpoints.checkpoint_file import StoreKind, file_clock_ns, git_mode
from lsp_harness.kernel.checkpoints.file_state import MAX_FILE_BYTES, FileState, content_digest, read_content
from lsp_harness.process.tool_run import run_tool

GIT_OPTIONS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.autocrlf": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.logAllRefUpdates": "false",
    "gc.auto": "0",
    "protocol.allow": "never",
}
GIT_LIMIT_S = 10.0
PRUNE_LIMIT_S = 60.0
READ_BATCH = 64
SAVE_BATCH = 1000
UNUSED_S = 3600
"""Age after which a content that no checkpoint needs is removed. A younger one may belong to a new checkpoint."""


DIGEST = re.compile("[0-9a-f]{40}")
KeptPart = Literal["", "-after"]
KEPT_PARTS: tuple[KeptPart, ...] = get_args(KeptPart)
"""The parts of a checkpoint: the texts before the turn, and those after it."""


class StoreUnavailable(Exception):
    """The error that a store cannot be used. Its text is the reason."""


class StoreTooSlow(StoreUnavailable):
    """The error that a store did not answer in time."""


class ContentStore(Protocol):
    """A store of file contents by their hash.

    Attributes:
        kind: Its name in events.
    """

    kind: StoreKind

    async def save(self, root: Path, states: Mapping[str, FileState], deadline: float) -> dict[str, str]:
        """Save the contents of files. Return path → hash for those that were saved before `deadline`.

        Raises StoreUnavailable.
        """
        ...

    async def save_text(self, data: bytes) -> str:
        """Save a content that is in no file, and return its hash. Raises StoreUnavailable."""
        ...

    async def keep(self, checkpoint_id: str, states: Mapping[str, FileState], part: KeptPart = "") -> None:
        """Keep the contents of a part of a checkpoint until it is dropped. Raises StoreUnavailable."""
        ...

    async def known(self, digests: Collection[str]) -> set[str]:
        """Return those of the hashes whose contents are saved."""
        ...

    async def read(self, digests: Collection[str]) -> dict[str, bytes]:
        """Return the contents with some hashes, by hash. Raises FileError."""
        ...

    async def drop(self, checkpoint_ids: Iterable[str], needed: Collection[str]) -> None:
        """Forget checkpoints, and remove contents that none needs. `needed` are the hashes of the others."""
        ...


class CopyStore:
    """A folder of copies. The name of a copy is the hash of its content."""

    kind: StoreKind = "copies"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def save(self, root: Path, states: Mapping[str, FileState], deadline: float) -> dict[str, str]:
        """Copy files, the last changed ones first."""
        return await asyncio.to_thread(self._save, root, states, deadline)

    async def save_text(self, data: bytes) -> str:
        """Write a copy of a content."""
        try:
            return await asyncio.to_thread(self._write, data)
        except OSError as error:
            raise StoreUnavailable(f"{self._folder}: {describe_system_error(error).lower()}") from error

    async def keep(self, checkpoint_id: str, states: Mapping[str, FileState], part: KeptPart = "") -> None:
        """Do nothing: a copy is kept as long as a checkpoint names it."""

    async def known(self, digests: Collection[str]) -> set[str]:
        """Return those of the hashes whose copies exist."""
        return {digest for digest in digests if self._copy_path(digest).is_file()}

    async def read(self, digests: Collection[str]) -> dict[str, bytes]:
        """Return the contents of copies, checked by their hashes."""
        return await asyncio.to_thread(lambda: {digest: self._read(digest) for digest in digests})

    async def drop(self, checkpoint_ids: Iterable[str], needed: Collection[str]) -> None:
        """Remove the copies that no checkpoint needs."""
        await asyncio.to_thread(self._drop, frozenset(needed))

    def _save(self, root: Path, states: Mapping[str, FileState], deadline: float) -> dict[str, str]:
        saved: dict[str, str] = {}
        for path, state in sorted(states.items(), key=lambda item: -item[1].mtime):
            if monotonic() > deadline:
                break
            try:
                data = read_content(root / path, state)
            except OSError:
                continue
            try:
                saved[path] = self._write(data)
            except OSError as error:
                raise StoreUnavailable(f"{self._folder}: {describe_system_error(error).lower()}") from error
        return saved

    def _write(self, data: bytes) -> str:
        digest = content_digest(data)
        copy = self._copy_path(digest)
        if copy.exists():
            # it is in use again
            os.utime(copy)
        else:
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_own_file(copy, data)
        return digest

    def _read(self, digest: str) -> bytes:
        with open_regular(self._copy_path(digest)) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if content_digest(data) != digest:
            raise FileError(f"{self._copy_path(digest)} is damaged, so the checkpoint cannot be restored")
        return data

    def _drop(self, needed: frozenset[str]) -> None:
        if not self._folder.is_dir():
            return
        now = file_clock_ns(self._folder) / 1e9
        for copy in self._folder.glob("[0-9a-f][0-9a-f]/*"):
            if copy.parent.name + copy.name not in needed:
                with suppress(OSError):
                    # a young copy may belong to a checkpoint that is being made
                    if now - copy.stat().st_mtime > UNUSED_S:
                        copy.unlink()

    def _copy_path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]


class GitStore:
    """A git directory of our own. It shares nothing with the repository and the settings of the user."""

    kind: StoreKind = "git"

    def __init__(self, folder: Path, root: Path) -> None:
        """Use a folder as the git directory of a work tree. Raises StoreUnavailable if there is no git."""
        program = shutil.which("git")
        if not program:
            raise StoreUnavailable("git is not installed")
        self._program = program
        self._folder = folder
        self._root = root

    async def save(self, root: Path, states: Mapping[str, FileState], deadline: float) -> dict[str, str]:
        """Write files as objects, as they are: without filters and without other line ends."""
        await self._create()
        plain = [path for path, state in states.items() if not state.is_link and "\n" not in path]
        # the last changed ones come first, because there may be no time for all
        plain.sort(key=lambda path: -states[path].mtime)
        saved: dict[str, str] = {}
        for start in range(0, len(plain), SAVE_BATCH):
            try:
                saved.update(await self._save_files(root, plain[start : start + SAVE_BATCH], deadline))
            except StoreTooSlow:
                if not saved:
                    raise
                return saved
        for path in states.keys() - set(plain):
            with suppress(OSError):
                data = read_content(root / path, states[path])
                saved[path] = (await self._run("hash-object", "-w", "--stdin", stdin=data)).decode().strip()
        return saved

    async def _save_files(self, root: Path, paths: Sequence[str], deadline: float) -> dict[str, str]:
        listed = b"".join(os.fsencode(root / path) + b"\n" for path in paths)
        command = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        output = await self._run(*command, stdin=listed, limit_s=max(0.0, deadline - monotonic()))
        digests = output.decode(errors="replace").split()
        if len(digests) != len(paths) or not all(map(DIGEST.fullmatch, digests)):
            raise StoreUnavailable("git did not say where it saved the files")
        return dict(zip(paths, digests, strict=True))

    async def save_text(self, data: bytes) -> str:
        """Write a content as an object."""
        await self._create()
        return (await self._run("hash-object", "-w", "--stdin", stdin=data)).decode().strip()

    async def known(self, digests: Collection[str]) -> set[str]:
        """Return those of the hashes whose objects exist."""
        if not digests or not (self._folder / "HEAD").exists():
            return set()
        try:
            output = await self._run("cat-file", "--batch-check", stdin="".join(f"{d}\n" for d in digests).encode())
        except StoreUnavailable:
            return set()
        rows = [line.split() for line in output.decode().splitlines()]
        return {row[0] for row in rows if len(row) == 3 and row[1] == "blob"}

    async def keep(self, checkpoint_id: str, states: Mapping[str, FileState], part: KeptPart = "") -> None:
        """Write a tree of the files, and a reference to it."""
        index = self._folder / f"index-{checkpoint_id}"
        entries = b"".join(
            f"{git_mode(state)} {state.digest}\t".encode() + os.fsencode(path) + b"\0"
            for path, state in states.items()
            if state.is_saved
        )
        try:
            await self._run("update-index", "-z", "--index-info", stdin=entries, index=index)
            tree = (await self._run("write-tree", index=index)).decode().strip()
        finally:
            for name in (index, index.with_name(f"{index.name}.lock")):
                name.unlink(missing_ok=True)
        await self._run("update-ref", f"refs/checkpoints/{checkpoint_id}{part}", tree)

    async def read(self, digests: Collection[str]) -> dict[str, bytes]:
        """Return the contents of objects, checked by their hashes."""
        contents: dict[str, bytes] = {}
        wanted = list(digests)
        try:
            for start in range(0, len(wanted), READ_BATCH):
                batch = wanted[start : start + READ_BATCH]
                output = await self._run("cat-file", "--batch", stdin="".join(f"{d}\n" for d in batch).encode())
                contents.update(_parse_objects(output))
        except (StoreUnavailable, ValueError) as error:
            raise FileError(f"the checkpoint cannot be restored: {error}") from error
        if damaged := [digest for digest in wanted if content_digest(contents.get(digest, b"\0")) != digest]:
            raise FileError(f"the object {damaged[0]} in {self._folder} is damaged; the checkpoint cannot be restored")
        return contents

    async def drop(self, checkpoint_ids: Iterable[str], needed: Collection[str]) -> None:
        """Remove references, and then the objects that no reference needs."""
        if not (self._folder / "HEAD").exists():
            return
        listed = await self._run("for-each-ref", "--format=%(refname)", "refs/checkpoints/")
        old = {f"refs/checkpoints/{checkpoint_id}{part}" for checkpoint_id in checkpoint_ids for part in KEPT_PARTS}
        commands = "".join(f"delete {name}\n" for name in listed.decode().split() if name in old)
        await self._run("update-ref", "--stdin", stdin=commands.encode())
        await self._run("gc", "--quiet", f"--prune={UNUSED_S}.seconds.ago", limit_s=PRUNE_LIMIT_S)

    async def _create(self) -> None:
        if (self._folder / "HEAD").exists():
            return
        # another process may create it at the same time
        new = self._folder.with_name(f"{self._folder.name}-{secrets.token_hex(6)}")
        try:
            new.mkdir(mode=0o700, parents=True)
            await self._run("init", "--quiet", "--bare", "--object-format=sha1", "--template=", str(new), cwd=new)
            with suppress(OSError):
                os.rename(new, self._folder)
        except OSError as error:
            raise StoreUnavailable(f"{new}: {describe_system_error(error).lower()}") from error
        finally:
            shutil.rmtree(new, ignore_errors=True)
        if not (self._folder / "HEAD").exists():
            raise StoreUnavailable(f"{self._folder} is no git directory; remove it")

    async def _run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        index: Path | None = None,
        limit_s: float | None = None,
        cwd: Path | None = None,
    ) -> bytes:
        options = [part for key, value in GIT_OPTIONS.items() for part in ("-c", f"{key}={value}")]
        try:
            result = await run_tool(
                [self._program, *options, *arguments],
                stdin=stdin,
                cwd=cwd or self._folder,
                env=self._make_environment(
                    None if arguments[0] == "init" else index or self._folder / f"index-{secrets.token_hex(8)}"
                ),
                limit_s=GIT_LIMIT_S if limit_s is None else limit_s,
            )
        except OSError as error:
            raise StoreUnavailable(f"git cannot be started: {describe_system_error(error).lower()}") from error
        if result.exit_code is None:
            raise StoreTooSlow(f"git {arguments[0]} took too long")
        if result.exit_code:
            message = result.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise StoreUnavailable(f"git {arguments[0]} failed: {message or f'exit code {result.exit_code}'}")
        return result.stdout

    def _make_environment(self, index: Path | None) -> dict[str, str]:
        # no variable of the user may name another repository, another index or a program
        folder = str(self._folder)
        tree = {"GIT_DIR": folder, "GIT_WORK_TREE": str(self._root), "GIT_INDEX_FILE": str(index)} if index else {}
        return {
            **tree,
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C",
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
        }


def _parse_objects(output: bytes) -> dict[str, bytes]:
    """Return the objects in the output of `git cat-file --batch`. Raises ValueError."""
    objects: dict[str, bytes] = {}
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        digest, kind, *size = output[position:end].decode().split()
        if kind != "blob" or not size:
            raise ValueError(f"git has no object {digest}")
        objects[digest] = output[end + 1 : end + 1 + int(size[0])]
        position = end + 2 + int(size[0])
    return objects
