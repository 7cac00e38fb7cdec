"""The places where the program of an agent runs: this machine, a sandbox, a container or another machine."""

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.process.sandbox.bubblewrap import Bubblewrap
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec, RunnerName

Argv = tuple[str, ...]
TESTED_RUNNERS: frozenset[RunnerName] = frozenset({"local"})
"""The runners with which real agents ran in the tests of this project. The commands of the others are only built."""
AGENT_FILES: Mapping[str, tuple[str, ...]] = {
    "claude": (".claude", ".claude.json"),
    "codex": (".codex",),
    "gemini": (".gemini",),
    "opencode": (".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"),
}
"""Type of agent → what it must write in the home of the user."""
CONTAINER_PROGRAMS = ("podman", "docker")


@dataclass(frozen=True, slots=True)
class Runners:
    """The runners of one client.

    Attributes:
        container_image: The image of the runner `container`. It must have the program of the agent.
        ssh_host: The machine of the runner `ssh`, as ssh names it. It must have the same folder.
    """

    container_image: str = ""
    ssh_host: str = ""

    def wrap(self, spec: AgentSpec, argv: Argv) -> Argv:
        """Return the command that runs the command of an agent where its description wants it.

        Raises:
            InvalidSpec: The runner does not work here, or lacks a setting.
        """
        match spec.runner:
            case "local":
                return argv
            case "bwrap":
                return self._wrap_in_sandbox(spec, argv)
            case "container":
                return self._wrap_in_container(spec, argv)
            case "ssh":
                return self._wrap_in_ssh(spec, argv)

    def find_problem(self, runner: RunnerName) -> str:
        """Return why a runner cannot be used here, or an empty text."""
        match runner:
            case "local":
                return ""
            case "bwrap":
                return Bubblewrap().find_problem()
            case "container":
                if not any(map(shutil.which, CONTAINER_PROGRAMS)):
                    return f"none of {', '.join(CONTAINER_PROGRAMS)} is installed"
                return "" if self.container_image else "no image of the container is set"
            case "ssh":
                return ("" if self.ssh_host else "no host is set") if shutil.which("ssh") else "ssh is not installed"

    def describe(self) -> list[dict[str, object]]:
        """Return all runners: whether each works here, and whether agents were ever tested in it."""
        names: tuple[RunnerName, ...] = ("local", "bwrap", "container", "ssh")
        return [
            {"runner": name, "problem": self.find_problem(name), "isTested": name in TESTED_RUNNERS} for name in names
        ]

    def _require(self, runner: RunnerName) -> None:
        if problem := self.find_problem(runner):
            raise InvalidSpec(f"the runner {runner} does not work here: {problem}", "use the runner local")

    def _wrap_in_sandbox(self, spec: AgentSpec, argv: Argv) -> Argv:
        """Let the agent write in its folder and its own settings only. The network stays open for its model."""
        self._require("bwrap")
        home = Path.home()
        own = [home / name for name in AGENT_FILES.get(spec.type, ()) if (home / name).exists()]
        command = Bubblewrap().wrap(argv, SandboxPolicy(spec.workdir, writable=(spec.workdir, *own)))
        options, program = command[: -len(argv)], command[-len(argv) :]
        # an agent must reach its model; and its terminal is one of ours, into which it cannot type
        options = [option for option in options if option != "--new-session"]
        options.insert(options.index("--unshare-all") + 1, "--share-net")
        return (*options, *program)

    def _wrap_in_container(self, spec: AgentSpec, argv: Argv) -> Argv:
        self._require("container")
        program = next(name for name in CONTAINER_PROGRAMS if shutil.which(name))
        folder = str(spec.workdir)
        mount = ("--volume", f"{folder}:{folder}", "--workdir", folder)
        # the variables of the agent are named, not written: a command line can be read by everybody
        names = [option for name in ("TERM", "COLORTERM", "LANG", *sorted(spec.env)) for option in ("--env", name)]
        options = ("--rm", "--interactive", "--tty", "--init", *mount, *names)
        return (program, "run", *options, self.container_image, *argv)

    def _wrap_in_ssh(self, spec: AgentSpec, argv: Argv) -> Argv:
        self._require("ssh")
        if self.ssh_host.startswith("-"):
            raise InvalidSpec("the host of ssh must not begin with a hyphen", "change the setting")
        command = f"cd {shlex.quote(str(spec.workdir))} && exec {shlex.join(argv)}"
        return ("ssh", "-tt", "-o", "BatchMode=yes", "--", self.ssh_host, command)
