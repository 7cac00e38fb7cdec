"""The common part of the adapters of command line agents by other makers."""

import asyncio
import os
import re
import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from lsp_harness.process.tool_run import ToolRunResult, run_tool
from lsp_harness.runtime.adapter import Adapter, AuthState, LaunchOrder, Probe
from lsp_harness.runtime.agent_errors import CliNotFound, InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.connection import Connection, Observer

PROBE_LIMIT_S = 10.0
VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b")
Version = tuple[int, int, int]


class CliAdapter(Adapter):
    """A command line agent of another maker.

    It reads the user's own settings and login of the agent, and it writes none of them.

    Attributes:
        package: The name of its npm package.
        recorded: The oldest and the newest version on which its protocol and its screens were looked at.
        login_hint: The way to log in, in one sentence.
        permission_modes: The permission modes of the agent that a client may choose.
        protected_arguments: Arguments that a client must not give, because the adapter decides them.

    Args:
        program: The program, if it is not the one on PATH.
    """

    package: ClassVar[str]
    recorded: ClassVar[tuple[Version, Version]]
    login_hint: ClassVar[str]
    permission_modes: ClassVar[frozenset[str]] = frozenset()
    protected_arguments: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, program: str = "") -> None:
        self._given_program = program

    @property
    def command(self) -> str:
        """The program as it is started."""
        return self._given_program or self.program

    def connect(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return the connection of a new agent. See the base class."""
        # the description of an agent must not undo what its adapter decides
        decided = self.build_launch(order.spec, order.transport).env
        order = replace(order, env={**order.env, **decided})
        if order.transport == "pty":
            return self.connect_terminal(order, observe)
        return self.connect_structured(order, observe)

    @abstractmethod
    def connect_structured(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection over the protocol of the agent."""

    def connect_terminal(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection over a terminal."""
        # the emulator is imported with the first agent
        from lsp_harness.runtime.pty_connection import PtyConnection
        from lsp_harness.runtime.pty_traits import CTRL_C, PtyTraits

        traits = PtyTraits(exit_keys=(CTRL_C, CTRL_C))
        return PtyConnection(order, traits, observe, lambda: self.read_version(order))

    async def read_version(self, order: LaunchOrder) -> str:
        """Return the version of the program of an agent, or an empty text."""
        result = await run_command(order.build_command((self.command, "--version")), order.env)
        found = VERSION.search(result.stdout.decode(errors="replace"))
        return found[0] if found else ""

    async def probe(self) -> Probe:
        """Look at the installed program by its own commands. See the base class."""
        program = await asyncio.to_thread(shutil.which, self.command)
        if program is None:
            return Probe("", hint=f"npm install -g {self.package}")
        result = await run_command((program, "--version"), os.environ)
        text = (result.stdout + result.stderr).decode(errors="replace")
        found = VERSION.search(text)
        if found is None:
            return Probe(program, hint=f"`{self.program} --version` failed: run it in a terminal")
        number = (int(found[1]), int(found[2]), int(found[3]))
        is_recorded = self.recorded[0] <= number <= self.recorded[1]
        auth = await self.probe_login(program, os.environ)
        hint = ""
        if auth == "missing":
            hint = self.login_hint
        elif not is_recorded:
            known = " to ".join(".".join(map(str, version)) for version in self.recorded)
            hint = f"its screens are known for {known}: use the default transport, not a terminal"
        return Probe(program, found[0], is_recorded, auth, hint)

    @abstractmethod
    async def probe_login(self, program: str, env: Mapping[str, str]) -> AuthState:
        """Return whether the agent has a login, without the network."""

    def check_arguments(self, spec: AgentSpec) -> None:
        """Refuse a permission mode that the agent does not have, and arguments that would change the protocol.

        Raises:
            InvalidSpec: There is one.
        """
        if spec.permission_mode and spec.permission_mode not in self.permission_modes:
            modes = ", ".join(sorted(self.permission_modes)) or "none"
            raise InvalidSpec(
                f"{self.name} has no permission mode {spec.permission_mode!r}", f"choose one of these: {modes}"
            )
        for argument in spec.args:
            if argument.partition("=")[0] in self.protected_arguments:
                raise InvalidSpec(f"the argument {argument!r} is set by lsp-harness", "leave it out")


async def run_command(argv: Sequence[str], env: Mapping[str, str]) -> ToolRunResult:
    """Run a status command of an agent.

    Raises:
        CliNotFound: The program is missing.
    """
    try:
        return await run_tool(argv, env=env, limit_s=PROBE_LIMIT_S)
    except FileNotFoundError as error:
        raise CliNotFound(f"{argv[0]} is not installed", f"install {argv[0]}") from error


def find_value(spec: AgentSpec, *names: str) -> str:
    """Return the first of some variables that is set, in the description or in the environment of this process."""
    for environment in (spec.env, os.environ):
        for name in names:
            if value := environment.get(name):
                return value
    return ""
