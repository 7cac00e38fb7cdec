"""The runner `bwrap`: the agent sees its folder, its own login and the programs of this machine, but not your home."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsp_harness.process.sandbox.mount_places import find_other_places
from lsp_harness.process.sandbox.sandbox_choice import find_sandbox
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy
from lsp_harness.runtime.adapter import Argv, LaunchOrder
from lsp_harness.runtime.agent_errors import CliNotFound, InvalidSpec, SpawnFailed
from lsp_harness.runtime.isolation.git import find_git_folders
from lsp_harness.runtime.isolation.runner import PACKAGE_FOLDER, Runner, RunnerProblem
from lsp_harness.verify.project_tests.hidden_files import list_own_folders

AGENT_FILES: Mapping[str, tuple[str, ...]] = {
    "claude": (".claude", ".claude.json"),
    "codex": (".codex",),
    "gemini": (".gemini",),
    "opencode": (".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"),
}
"""Type of agent → what it must write in the home of the user."""
SANDBOX = "bubblewrap"
RESOLVER_FILE = Path("/etc/resolv.conf")
MODULES_FOLDER = "node_modules"
SCRIPT_HEAD_BYTES = 256


class SandboxRunner(Runner):
    """Bubblewrap. The home of the user is empty but for the files of the agent, and other processes are hidden."""

    name = "bwrap"
    can_close_network = True

    def find_problem(self) -> RunnerProblem | None:
        """Return why bubblewrap does not work here, or None. It runs it to find out."""
        if not shutil.which("bwrap"):
            return RunnerProblem("bwrap is not installed", "install the package bubblewrap", CliNotFound)
        sandbox = find_sandbox(SANDBOX)
        if sandbox is None:
            return RunnerProblem("bubblewrap needs Linux", "use another runner", SpawnFailed)
        if problem := sandbox.find_problem():
            return RunnerProblem(problem, "allow user namespaces, or use another runner", SpawnFailed)
        return None

    def check(self, order: LaunchOrder) -> None:
        """Look for bubblewrap, and refuse a folder that contains the home of the user."""
        super().check(order)
        if Path.home().is_relative_to(order.spec.workdir):
            raise InvalidSpec(
                "in the runner bwrap an agent cannot work in your home folder, which it must not see",
                "name a folder within it",
            )

    def wrap(self, order: LaunchOrder, argv: Argv, *, has_terminal: bool) -> Argv:
        """Let the agent write in its folder and its own settings only. See the base class."""
        spec, home = order.spec, Path.home()
        names = (*AGENT_FILES.get(spec.type, ()), *self.settings.sandbox_folders)
        # an absolute path stays as it is
        own = [path for name in names if (path := home / os.path.expanduser(name)).exists()]
        needed = [PACKAGE_FOLDER, order.folder, *find_program_folders(argv[0]), *find_git_folders(spec.workdir)]
        if spec.network:
            needed.append(RESOLVER_FILE.resolve())
        policy = SandboxPolicy(
            spec.workdir,
            writable=(spec.workdir, *own),
            # the folders of other agents, and their hooks, are in the same folder as the one of this agent
            hidden=(home, *find_other_places([home]), order.folder.parent),
            visible=tuple(needed),
            # with the token of our API, an agent could start another one without a sandbox
            absent=tuple(list_own_folders(spec.workdir, (order.folder, PACKAGE_FOLDER))),
            reaches_sockets=True,
        )
        sandbox = find_sandbox(SANDBOX)
        assert sandbox, "the runner was checked"
        command = sandbox.wrap(argv, policy)
        options, program = command[: -len(argv)], command[-len(argv) :]
        if spec.network:
            options.insert(options.index("--unshare-all") + 1, "--share-net")
        return (*options, *program)


def find_program_folders(name: str, depth: int = 0) -> Iterator[Path]:
    """Yield the folders that a program needs, such as those of a node package in the home of the user.

    Args:
        name: The program, as it is started.
        depth: The number of interpreters that led to it.
    """
    found = shutil.which(name)
    if found is None:
        return
    path, real = Path(found).absolute(), Path(found).resolve()
    yield path.parent
    if (path.parent.parent / "pyvenv.cfg").exists():
        yield path.parent.parent
    parts = real.parts
    if MODULES_FOLDER in parts:
        yield Path(*parts[: parts.index(MODULES_FOLDER) + 1])
    elif real.parent.name == "bin" and (real.parent.parent / "lib").is_dir() and real.parent != path.parent:
        # an interpreter with its library, such as that of pyenv or nvm
        yield real.parent.parent
    else:
        yield real.parent
    if depth == 0 and (interpreter := _read_interpreter(real)):
        yield from find_program_folders(interpreter, depth + 1)


def _read_interpreter(file: Path) -> str:
    """Return the interpreter that the first line of a script names, or an empty text."""
    try:
        with file.open("rb") as stream:
            head = stream.read(SCRIPT_HEAD_BYTES)
    except OSError:
        return ""
    if not head.startswith(b"#!"):
        return ""
    words = [word for word in head[2:].split(b"\n")[0].decode("utf-8", "replace").split() if not word.startswith("-")]
    if words and Path(words[0]).name == "env":
        words = words[1:]
    return words[0] if words else ""
