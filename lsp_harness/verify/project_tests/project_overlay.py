"""A project with other contents of some files than the disk has, for programs that run in a sandbox.

Where a sandbox cannot replace files, and for programs that must not change the project, this is a copy of the project.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import SkippedFile, walk
from lsp_harness.process.sandbox.confined_run import ConfinedResult, confined_environment, run_confined
from lsp_harness.process.sandbox.mount_places import find_other_places
from lsp_harness.process.sandbox.sandbox import NoSandbox, Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits, SandboxPolicy
from lsp_harness.verify.project_tests.hidden_files import list_private_paths
from lsp_harness.verify.project_tests.project_view import list_view_folders, view_environment

MAX_FILES = 20_000
MAX_BYTES = 256 << 20
LINKED_FOLDERS = ("node_modules", ".venv", "venv")
"""Folders of installed packages. The copy has links to them."""


class TooLargeError(Exception):
    """The project is too large to copy. The message says what is too large."""


def copy_project(root: Path, target: Path) -> frozenset[Path]:
    """Copy the files of a project that are not ignored, and return these files.

    Args:
        root: The folder of the project.
        target: The folder of the copy, which must not exist.

    Raises:
        TooLargeError: The project has too many files, or too large ones.
        OSError: A file cannot be copied.
    """
    target.mkdir(parents=True)
    copied: set[Path] = set()
    size = 0
    for file in walk(root, IgnoreFiles()):
        if isinstance(file, SkippedFile) and not (root / file.path).is_file():
            continue
        source, copy = root / file.path, target / file.path
        copied.add(source)
        size += source.stat().st_size
        if len(copied) > MAX_FILES or size > MAX_BYTES:
            raise TooLargeError(f"the project has more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        shutil.copymode(source, copy)
    for name in LINKED_FOLDERS:
        if (root / name).is_dir() and not os.path.lexists(target / name):
            (target / name).symlink_to(root / name)
    return frozenset(copied)


READ_ONLY_MARKS = (b"Read-only file system", b"EROFS", b"Permission denied")
"""Words in the output of programs that want to write into their project."""


@dataclass(frozen=True, slots=True)
class ConfinedProgram:
    """A program that runs on a project.

    Attributes:
        argv: The command.
        env: More variables of the environment.
        visible: Folders that the program needs although they may lie in the home of the user.
        limits: The limits of time, memory and processes.
        folder: The folder in which it starts, relative to the project.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    visible: tuple[Path, ...] = ()
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    folder: PurePosixPath = field(default_factory=PurePosixPath)


@dataclass(frozen=True, slots=True)
class OverlayRun:
    """The result of a run, and whether it was on a copy of the project."""

    result: ConfinedResult
    is_on_copy: bool


@dataclass(frozen=True, slots=True)
class ProjectOverlay:
    """A project with other contents of some files. Nothing of the project is changed.

    Attributes:
        root: The folder of the project.
        texts: File → its content.
        scratch: A folder in which the program may write, and which may hold a copy of the project.
        sandbox: The sandbox.
    """

    root: Path
    texts: Mapping[Path, bytes]
    scratch: Path
    sandbox: Sandbox

    @property
    def copy(self) -> Path:
        """The folder of the copy, if one is made."""
        return self.scratch / "project"

    @property
    def is_copied(self) -> bool:
        """Return whether a program runs on a copy at once."""
        if self.sandbox.has_overlays:
            return False
        is_replaceable = self.sandbox.can_replace_files and all(file.is_file() for file in self.texts)
        return isinstance(self.sandbox, NoSandbox) or not (is_replaceable or not self.texts)

    async def run(self, program: ConfinedProgram) -> OverlayRun:
        """Run a program in the folder of the project.

        In a sandbox with overlays, the program may write everywhere in the project, and nothing of that stays. In
        others, it can only read the folder. If it wants to write there, it runs again on a copy. New files, a sandbox
        that cannot replace files, and no sandbox at all need a copy at once.

        Raises:
            TooLargeError: A copy of the project is needed, and it is too large.
            OSError: A program cannot be started, or a file cannot be written.
        """
        if self.sandbox.has_overlays:
            return OverlayRun(await self._run_in_view(program), is_on_copy=False)
        if not self.is_copied:
            result = await self._run_in_place(program)
            if result.exit_code == 0 or not any(mark in result.output for mark in READ_ONLY_MARKS):
                return OverlayRun(result, is_on_copy=False)
        return OverlayRun(await self._run_on_copy(program), is_on_copy=True)

    async def _run_in_view(self, program: ConfinedProgram) -> ConfinedResult:
        """Run in the folder of the project, with the texts in an overlay that is gone after the run."""
        policy = await asyncio.to_thread(self._prepare_view, program)
        return await run_confined(program.argv, self.sandbox, policy, view_environment(program.env.items()))

    def _prepare_view(self, program: ConfinedProgram) -> SandboxPolicy:
        # a folder of a run before may hold its changes
        layer = Path(tempfile.mkdtemp(prefix="layer-", dir=self.scratch))
        replaced: dict[Path, Path] = {}
        for number, (file, content) in enumerate(self.texts.items()):
            replaced[file] = self.scratch / f"text-{number}"
            write_scratch(replaced[file], content)
        return SandboxPolicy(
            self.root / program.folder,
            (self.scratch,),
            replaced,
            limits=program.limits,
            overlays=list_view_folders(self.root, program.visible),
            absent=list_private_paths(self.root, needed=program.visible),
            layer=layer,
        )

    async def _run_in_place(self, program: ConfinedProgram) -> ConfinedResult:
        """Run in the folder of the project, which is read-only, with the texts mounted over their files."""
        replaced: dict[Path, Path] = {}
        for number, (file, content) in enumerate(self.texts.items()):
            replaced[file] = self.scratch / f"text-{number}"
            await asyncio.to_thread(write_scratch, replaced[file], content)
        return await self._start(program, SandboxPolicy(self.root / program.folder, (self.scratch,), replaced))

    async def _run_on_copy(self, program: ConfinedProgram) -> ConfinedResult:
        """Run in a copy of the project, with the texts written into it."""
        await asyncio.to_thread(self._write_copy)
        return await self._start(program, SandboxPolicy(self.copy / program.folder, (self.scratch,)))

    def _write_copy(self) -> None:
        shutil.rmtree(self.copy, ignore_errors=True)
        copy_project(self.root, self.copy)
        for file, content in self.texts.items():
            target = self.copy / file.relative_to(self.root)
            if not target.parent.resolve().is_relative_to(self.copy.resolve()):
                # the copy has a link there, and the file of the user must stay as it is
                raise OSError(f"{file.name} is in a folder of installed packages")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    async def _start(self, program: ConfinedProgram, policy: SandboxPolicy) -> ConfinedResult:
        policy = hide_home(policy, (*program.visible, self.root), program.limits)
        env = confined_environment(str(self.scratch), str(self.scratch), program.env)
        return await run_confined(program.argv, self.sandbox, policy, env)


def write_scratch(file: Path, content: bytes) -> None:
    """Write a file where a program of the sandbox may have put a link to a file of the user.

    Raises:
        OSError: The file cannot be written.
    """
    file.unlink(missing_ok=True)
    with file.open("xb") as new:
        new.write(content)


def hide_home(policy: SandboxPolicy, visible: tuple[Path, ...], limits: ResourceLimits) -> SandboxPolicy:
    """Return a policy that also hides the home of the user, except for some folders in it, and private files elsewhere.

    Args:
        policy: The policy.
        visible: The folders that the program needs. The last one is the project.
        limits: The limits of time, memory and processes.
    """
    home = Path.home()
    # the root folder, as the home of a service account, cannot be hidden
    hidden = (home,) if home != Path("/") and home.is_dir() else ()
    hidden += tuple(find_other_places(hidden))
    absent = list_private_paths(visible[-1], needed=visible)
    return replace(policy, hidden=hidden, visible=visible, limits=limits, absent=absent)
