"""The interface of a runner: the place where the program of an agent runs, and short commands of that place."""

import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import lsp_harness
from lsp_harness.config.runtime_schema import AgentSetting, Runtime
from lsp_harness.runtime.adapter import Argv, LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError
from lsp_harness.runtime.agent_spec import RunnerName

PACKAGE_FOLDER = Path(lsp_harness.__file__).parent
"""The files of lsp-harness, which agents of ours need wherever they run."""
CHECK_LIMIT_S = 20.0
"""Time for the programs of a runner to say whether an agent can be started."""


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    """The settings of the runners for one kind of agent.

    Attributes:
        runner: The runner of agents that name none.
        network: Whether agents may reach the network.
        container_program: `podman`, `docker`, or empty for the first that is installed.
        container_image: The image of containers.
        container_options: More options of the command that starts a container.
        ssh_host: The other machine.
        ssh_options: More options of ssh.
        sandbox_folders: Files and folders of the home that agents may change in the sandbox.
    """

    runner: str = "local"
    network: bool = True
    container_program: str = ""
    container_image: str = ""
    container_options: tuple[str, ...] = ()
    ssh_host: str = ""
    ssh_options: tuple[str, ...] = ()
    sandbox_folders: tuple[str, ...] = ()

    @classmethod
    def of(cls, runtime: Runtime, kind: str) -> "RunnerSettings":
        """Return the settings for a kind of agent: those of its own table win.

        Args:
            runtime: The settings of the runtime.
            kind: The type of the agent.
        """
        own = next((setting for setting in reversed(runtime.agents) if setting.name == kind), AgentSetting())
        return cls(
            own.runner or runtime.runner,
            own.network and runtime.network,
            runtime.container_program,
            own.container_image or runtime.container_image,
            runtime.container_options,
            own.ssh_host or runtime.ssh_host,
            runtime.ssh_options,
            own.sandbox_folders,
        )


@dataclass(frozen=True, slots=True)
class RunnerProblem:
    """The reason why a runner cannot be used on this machine.

    Attributes:
        text: The reason in words.
        hint: What the user can do.
        error: The error that a request for this runner gets.
    """

    text: str
    hint: str
    error: type[AgentError]


class Runner(ABC):
    """A place where programs of agents run.

    Attributes:
        name: The name in the settings and in requests.
        can_close_network: Whether it can keep a program from the network.

    Args:
        settings: The settings for the kind of the agent.
    """

    name: ClassVar[RunnerName]
    can_close_network: ClassVar[bool] = False

    def __init__(self, settings: RunnerSettings) -> None:
        self.settings = settings

    @abstractmethod
    def find_problem(self) -> RunnerProblem | None:
        """Return why the runner cannot be used on this machine, or None. It may run a program."""

    @abstractmethod
    def wrap(self, order: LaunchOrder, argv: Argv, *, has_terminal: bool) -> Argv:
        """Return the command that runs a command of an agent in this place.

        Args:
            order: The order to start the agent.
            argv: The command.
            has_terminal: Whether its input and output are a terminal.
        """

    def check(self, order: LaunchOrder) -> None:
        """Look whether an agent can be started here. It may run programs and wait for them.

        Raises:
            AgentError: A program, a setting, an image or a machine is missing, or it does not answer.
        """
        if problem := self.find_problem():
            raise problem.error(f"the runner {self.name} does not work here: {problem.text}", problem.hint)

    def clean_up(self, order: LaunchOrder) -> None:  # noqa: B027 - most places keep nothing
        """Remove what an agent left in this place after its end. It may run programs, and nothing is raised."""


class LocalRunner(Runner):
    """The runner on this machine, with all rights of the user."""

    name = "local"

    def find_problem(self) -> None:
        """Return an empty text: running on this machine always works."""

    def wrap(self, order: LaunchOrder, argv: Argv, *, has_terminal: bool) -> Argv:
        """Return the command itself."""
        return argv


@dataclass(frozen=True, slots=True)
class PlaceResult:
    """The result of a command.

    Attributes:
        exit_code: The exit status of the command.
        output: The standard output of the command.
        problem: The last line of its errors if it failed, else an empty text.
    """

    exit_code: int
    output: str
    problem: str


def run_place_command(argv: tuple[str, ...]) -> PlaceResult:
    """Run a command and wait for it. Whatever goes wrong is in the result."""
    try:
        result = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return PlaceResult(-1, "", f"no answer within {CHECK_LIMIT_S:g} seconds")
    except OSError as error:
        return PlaceResult(-1, "", error.strerror or str(error))
    if result.returncode == 0:
        return PlaceResult(0, result.stdout, "")
    lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    return PlaceResult(
        result.returncode, result.stdout, lines[-1] if lines else f"its exit status is {result.returncode}"
    )
