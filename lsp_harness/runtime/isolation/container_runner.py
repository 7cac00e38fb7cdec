"""The runner `container`: the agent runs in a container of podman or docker, which has its folder and nothing else."""

import os
import platform
import re
import shutil
from hashlib import blake2b
from pathlib import Path

from lsp_harness.disk.ownership import user_and_group
from lsp_harness.process.process_table import list_processes
from lsp_harness.runtime.adapter import Argv, LaunchOrder
from lsp_harness.runtime.agent_errors import CliNotFound, InvalidSpec, SpawnFailed
from lsp_harness.runtime.isolation.git import find_git_folders
from lsp_harness.runtime.isolation.runner import PACKAGE_FOLDER, Runner, RunnerProblem, run_place_command

PROGRAMS = ("podman", "docker")
TERMINAL_NAMES = ("TERM", "COLORTERM", "LANG")
NAME_START = "lsp-harness"
NAME = re.compile(rf"{NAME_START}-(?P<machine>[0-9a-f]{{8}})-(?P<server>\d+)-[0-9A-Za-z]+")


class ContainerRunner(Runner):
    """A container of podman or docker."""

    name = "container"
    can_close_network = True

    @property
    def program(self) -> str:
        """The program that starts containers, or an empty text if none is installed."""
        wanted = self.settings.container_program
        names = (wanted,) if wanted else PROGRAMS
        return next((name for name in names if shutil.which(name)), "")

    def find_problem(self) -> RunnerProblem | None:
        """Return why no container can be started, or None."""
        if not self.program:
            missing = self.settings.container_program or " or ".join(PROGRAMS)
            return RunnerProblem(f"{missing} is not installed", "install podman", CliNotFound)
        if not self.settings.container_image:
            hint = "write runtime.container_image into your settings file"
            return RunnerProblem("runtime.container_image is not set", hint, InvalidSpec)
        return None

    def check(self, order: LaunchOrder) -> None:
        """Look for the program and the image, and remove the containers of servers that were killed."""
        super().check(order)
        image = self.settings.container_image
        if image.startswith("-"):
            raise InvalidSpec(f"{image!r} is no name of an image", "change container_image in your settings file")
        if problem := run_place_command((self.program, "image", "inspect", "--format", "found", image)).problem:
            raise SpawnFailed(
                f"{self.program} does not find the image {image}: {problem}", f"run `{self.program} pull {image}`"
            )
        self._remove_leftovers()

    def wrap(self, order: LaunchOrder, argv: Argv, *, has_terminal: bool) -> Argv:
        """Return the command that runs a command in a new container. See the base class."""
        spec, folder = order.spec, str(order.spec.workdir)
        options = ["--rm", "--interactive", "--init", "--pull=never", f"--volume={folder}:{folder}"]
        options += ["--workdir", folder]
        if argv == order.argv or has_terminal:
            options += ["--name", container_name(order)]
        if has_terminal:
            options.append("--tty")
        if not spec.network:
            options.append("--network=none")
        if self.program == "docker" and (identity := user_and_group()):
            # files that root of a docker container creates belong to root outside, too
            options.append(f"--user={identity}")
        read_only = [*find_git_folders(spec.workdir), *_find_own_files(argv, order)]
        options += [f"--volume={path}:{path}:ro" for path in map(str, read_only)]
        # the variables of the agent are named, not written: a command line can be read by everybody
        names = (*TERMINAL_NAMES, *sorted(order.added_env.keys() - set(TERMINAL_NAMES)))
        options += [f"--env={name}" for name in names]
        return (self.program, "run", *options, *self.settings.container_options, self.settings.container_image, *argv)

    def clean_up(self, order: LaunchOrder) -> None:
        """Remove the container. docker keeps one whose client was killed, and podman keeps its record."""
        if self.program:
            run_place_command((self.program, "rm", "--force", container_name(order)))

    def _remove_leftovers(self) -> None:
        listing = run_place_command(
            (self.program, "ps", "--all", "--filter", f"name={NAME_START}-", "--format", "{{.Names}}")
        )
        running = {row.pid for row in list_processes()}
        for name in listing.output.split():
            match = NAME.fullmatch(name)
            if match and match["machine"] == _name_machine() and int(match["server"]) not in running:
                run_place_command((self.program, "rm", "--force", name))


def container_name(order: LaunchOrder) -> str:
    """Return the name of the container of an agent. It tells which server it belongs to."""
    return f"{NAME_START}-{_name_machine()}-{os.getpid()}-{order.agent_id}"


def _name_machine() -> str:
    # several machines can use one docker, and the numbers of their processes are not comparable
    return blake2b(platform.node().encode(), digest_size=4).hexdigest()


def _find_own_files(argv: Argv, order: LaunchOrder) -> list[Path]:
    """Return the files of lsp-harness that a command names. The image does not have them."""
    files = [Path(word) for word in argv if word.startswith("/")]
    return [file for file in files if file.is_relative_to(PACKAGE_FOLDER) or file.is_relative_to(order.folder)]
