"""Git for agents: runs that start no program of the repository, data folders, and the files of a folder as a tree."""

import os
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lsp_harness.errors import HarnessError
from lsp_harness.process.safe_git import LISTING, SAFE_OPTIONS, override_variables, read_overrides, safe_environment
from lsp_harness.process.tool_run import run_tool

POINTER = "gitdir:"
COMMON_FILE = "commondir"


def find_git_folders(workdir: Path) -> list[Path]:
    """Return the folders of git outside of the work tree that a program in it needs. It is nearly always empty.

    A worktree has a file `.git`, which names a folder in the repository, and that names the folder with the objects.

    Args:
        workdir: A folder in the work tree.
    """
    for folder in (workdir, *workdir.parents):
        pointer = folder / ".git"
        if pointer.is_dir():
            return [] if folder == workdir else [pointer]
        if pointer.is_file():
            return [pointer, *_follow(pointer)]
    return []


def _follow(pointer: Path) -> list[Path]:
    try:
        text = pointer.read_text("utf-8", "surrogateescape").strip()
        if not text.startswith(POINTER):
            return []
        own = (pointer.parent / text.removeprefix(POINTER).strip()).resolve()
        common = (own / (own / COMMON_FILE).read_text("utf-8", "surrogateescape").strip()).resolve()
    except OSError:
        return []
    return [common] if own.is_relative_to(common) else [own, common]


IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "lsp-harness"), ("EMAIL", "lsp-harness@localhost"))
}
GIT_LIMIT_S = 60.0


class GitFailed(HarnessError):
    """Git is missing, or a command of git failed."""


async def run_git(folder: Path, *arguments: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> bytes:
    """Run git in a folder and return what it prints.

    Args:
        folder: The folder.
        arguments: The command of git and its arguments.
        env: Variables to add to the environment.
        stdin: The standard input.

    Raises:
        GitFailed: Git is missing, or the command failed.
    """
    environment = {**safe_environment(os.environ), **IDENTITY, **(env or {})}
    # the settings are read each time, because an agent may have changed them
    overrides = read_overrides(await _run(folder, LISTING, environment))
    environment |= override_variables(overrides.items())
    return await _run(folder, arguments, environment, stdin)


async def _run(folder: Path, arguments: Sequence[str], environment: Mapping[str, str], stdin: bytes = b"") -> bytes:
    command = ("git", *SAFE_OPTIONS, *arguments)
    try:
        result = await run_tool(command, cwd=folder, env=environment, stdin=stdin, limit_s=GIT_LIMIT_S)
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}") from error
    if result.exit_code == 0:
        return result.stdout
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    raise GitFailed(f"git {arguments[0]} failed: {lines[-1] if lines else f'exit code {result.exit_code}'}")


ChangeKind = Literal["created", "changed", "removed"]
KINDS: dict[str, ChangeKind] = {"A": "created", "M": "changed", "T": "changed", "D": "removed"}
ABSENT_MODE = "000000"
REGULAR_MODES = frozenset({"100644", "100755", ABSENT_MODE})
MAX_FILE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class TreeChange:
    """A file that differs between two trees.

    Attributes:
        path: Its path in the repository.
        kind: What happened to it.
        before: Its content in the first tree. None: it was not there.
        after: Its content in the second tree. None: it is not there.
        problem: Why the contents are not known: it is a link, a submodule, or too large. Empty if they are.
    """

    path: str
    kind: ChangeKind
    before: bytes | None = None
    after: bytes | None = None
    problem: str = ""


@asynccontextmanager
async def _own_index(git_folder: Path) -> AsyncGenerator[dict[str, str]]:
    """Yield the variable that makes git use an index of our own, which is empty.

    Reading all files again costs time, but the index of an agent could hide files that it changed.
    """
    index = git_folder / f"lsp-harness-index-{secrets.token_hex(8)}"
    try:
        yield {"GIT_INDEX_FILE": str(index)}
    finally:
        for leftover in (index, index.with_name(index.name + ".lock")):
            leftover.unlink(missing_ok=True)


async def find_git_folder(root: Path) -> Path:
    """Return the folder in which git keeps the index of a work tree. Raises GitFailed."""
    return Path((await run_git(root, "rev-parse", "--absolute-git-dir")).decode().strip())


async def write_tree(root: Path) -> str:
    """Return the id of a tree with all files of a work tree that are not ignored, as they are on the disk.

    Raises:
        GitFailed: It is no work tree, or a file cannot be read.
    """
    async with _own_index(await find_git_folder(root)) as env:
        await run_git(root, "add", "--all", "--", ".", env=env)
        return (await run_git(root, "write-tree", env=env)).decode().strip()


async def read_changes(root: Path, before: str, after: str, max_files: int) -> tuple[list[TreeChange], int]:
    """Return the differences of two trees in the order of their paths, and how many more there are.

    Args:
        root: The folder of the work tree, whose attributes decide about the ends of lines.
        before: The first tree.
        after: The second tree.
        max_files: The largest number of files to read.

    Raises:
        GitFailed: A tree cannot be read.
    """
    listing = await run_git(root, "diff-tree", "-r", "-z", "--no-renames", before, after)
    parts = listing.decode("utf-8", "surrogateescape").split("\0")
    entries = list(zip(parts[0::2], parts[1::2], strict=False))
    changes: list[TreeChange] = []
    for header, path in entries[:max_files]:
        mode_before, mode_after, *_, status = header.lstrip(":").split(" ")
        kind = KINDS.get(status[:1], "changed")
        if not {mode_before, mode_after} <= REGULAR_MODES:
            changes.append(TreeChange(path, kind, problem="it is a link or a submodule"))
            continue
        text_before = await _read_content(root, before, path) if mode_before != ABSENT_MODE else None
        text_after = await _read_content(root, after, path) if mode_after != ABSENT_MODE else None
        if max(len(text_before or b""), len(text_after or b"")) > MAX_FILE_BYTES:
            changes.append(TreeChange(path, kind, problem="it is too large"))
        else:
            changes.append(TreeChange(path, kind, text_before, text_after))
    return changes, max(0, len(entries) - max_files)


async def _read_content(root: Path, tree: str, path: str) -> bytes:
    """Return the content of a file as a checkout would write it."""
    return await run_git(root, "cat-file", "--filters", f"{tree}:{path}")
