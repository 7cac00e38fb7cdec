"""The runner `ssh`: the agent runs on another machine, which has the same folder."""

import shlex
import shutil

from lsp_harness.files.secret_values import SECRET_NAME
from lsp_harness.runtime.adapter import Argv, LaunchOrder
from lsp_harness.runtime.agent_errors import CliNotFound, InvalidSpec, SpawnFailed
from lsp_harness.runtime.agent_spec import AGENT_VARIABLE
from lsp_harness.runtime.isolation.runner import Runner, RunnerProblem, run_place_command

FOLDER_MISSING, PROGRAM_MISSING = 71, 72
"""Exit statuses of the look at the other machine."""
OPTIONS = (
    *("-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    # a connection that is lost is noticed after 45 s
    *("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"),
)


class SshRunner(Runner):
    """Another machine, by the program ssh and the settings of the user for it."""

    name = "ssh"

    def find_problem(self) -> RunnerProblem | None:
        """Return why no other machine can be used, or None. It does not connect."""
        if not shutil.which("ssh"):
            return RunnerProblem("ssh is not installed", "install an ssh client", CliNotFound)
        if not self.settings.ssh_host:
            hint = "write runtime.ssh_host into your settings file"
            return RunnerProblem("runtime.ssh_host is not set", hint, InvalidSpec)
        return None

    def check(self, order: LaunchOrder) -> None:
        """Connect, and look for the folder and the program there."""
        super().check(order)
        host = self.settings.ssh_host
        if host.startswith("-"):
            raise InvalidSpec("the host of ssh must not begin with a hyphen", "change ssh_host in your settings file")
        folder, program = str(order.spec.workdir), order.argv[0]
        look = f"cd {shlex.quote(folder)} || exit {FOLDER_MISSING}; "
        look += f"command -v {shlex.quote(program)} >/dev/null || exit {PROGRAM_MISSING}"
        result = run_place_command((*self._connect("-T"), look))
        if result.exit_code == FOLDER_MISSING:
            raise SpawnFailed(f"{host} has no folder {folder}", "create it there, or mount the same disk")
        if result.exit_code == PROGRAM_MISSING:
            raise CliNotFound(f"{host} has no program {program}", f"install {program} there")
        if result.problem:
            raise SpawnFailed(f"{host} cannot be reached: {result.problem}", f"try `ssh {host}` in a terminal")

    def wrap(self, order: LaunchOrder, argv: Argv, *, has_terminal: bool) -> Argv:
        """Return the command that runs a command on the other machine. See the base class."""
        written: list[str] = []
        sent: list[str] = []
        for name, value in sorted(order.added_env.items()):
            # a command line can be read by everybody, on both machines
            if SECRET_NAME.search(name) or name in order.spec.env:
                sent += ["-o", f"SendEnv={name}"]
            else:
                written.append(shlex.quote(f"{name}={value}"))
        folder = shlex.quote(str(order.spec.workdir))
        command = f"cd {folder} && exec env {' '.join(written)} {shlex.join(argv)}"
        return (*self._connect("-tt" if has_terminal else "-T", *sent), command)

    def clean_up(self, order: LaunchOrder) -> None:
        """Kill what the agent left on the other machine, if that has `/proc`."""
        mark = shlex.quote(f"{AGENT_VARIABLE}={order.agent_id}")
        # `kill` of the agent alone would miss what has left its session
        find = f"tr '\\0' '\\n' <\"$p/environ\" 2>/dev/null | grep -qxF {mark}"
        kill = f'for p in /proc/[0-9]*; do {find} && kill -KILL "${{p#/proc/}}"; done 2>/dev/null; true'
        run_place_command((*self._connect("-T"), kill))

    def _connect(self, *options: str) -> Argv:
        return ("ssh", *options, *OPTIONS, *self.settings.ssh_options, "--", self.settings.ssh_host)
