"""All runners by their names, and the choice of one for a new agent."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lsp_harness.config.runtime_schema import Runtime
from lsp_harness.runtime.adapter import Argv, LaunchOrder
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec, RunnerName
from lsp_harness.runtime.isolation.container_runner import ContainerRunner
from lsp_harness.runtime.isolation.runner import LocalRunner, Runner, RunnerSettings
from lsp_harness.runtime.isolation.sandbox_runner import SandboxRunner
from lsp_harness.runtime.isolation.ssh_runner import SshRunner

RUNNERS: Mapping[RunnerName, type[Runner]] = {
    runner.name: runner for runner in (LocalRunner, SandboxRunner, ContainerRunner, SshRunner)
}
"""Name of a runner → its class."""


class Runners:
    """The runners of one client.

    Args:
        settings: The settings of the runtime.
    """

    def __init__(self, settings: Runtime | None = None) -> None:
        self._settings = settings or Runtime()

    def complete(self, spec: AgentSpec) -> AgentSpec:
        """Return the description of an agent with its runner and its network as the settings decide them.

        Raises:
            InvalidSpec: There is no such runner, or it cannot close the network that must be closed.
        """
        settings = RunnerSettings.of(self._settings, spec.type)
        name = spec.runner or settings.runner
        runner = RUNNERS.get(name)  # pyright: ignore[reportArgumentType] - the settings may name anything
        if runner is None:
            raise InvalidSpec(f"there is no runner {name!r}", f"the runners are {', '.join(RUNNERS)}")
        network = spec.network and settings.network
        if not network and not runner.can_close_network:
            able = " or ".join(other.name for other in RUNNERS.values() if other.can_close_network)
            raise InvalidSpec(
                f"the runner {runner.name} cannot close the network, as the request or the settings want",
                f"use the runner {able}, or allow the network",
            )
        return replace(spec, runner=runner.name, network=network)

    def choose(self, spec: AgentSpec) -> Runner:
        """Return the runner of an agent whose description is complete."""
        return RUNNERS[spec.runner or "local"](RunnerSettings.of(self._settings, spec.type))

    def wrap(self, order: LaunchOrder, argv: Argv, has_terminal: bool) -> Argv:
        """Return the command line that runs a command of an agent in the runner of its description."""
        return self.choose(order.spec).wrap(order, argv, has_terminal=has_terminal)

    def describe(self) -> list[dict[str, Any]]:
        """Return all runners as JSON, and why each cannot be used here. It runs programs, but does not connect."""
        settings = RunnerSettings.of(self._settings, "")
        return [
            {
                "runner": name,
                "problem": problem.text if (problem := runner(settings).find_problem()) else "",
                "closesNetwork": runner.can_close_network,
            }
            for name, runner in RUNNERS.items()
        ]
