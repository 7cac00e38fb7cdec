"""All kinds of agents by their names: those of lsp-harness, and those of the settings."""

from collections.abc import Callable, Iterable, Mapping

from lsp_harness.config.runtime_schema import AgentSetting
from lsp_harness.runtime.adapter import Adapter
from lsp_harness.runtime.adapters.claude import Claude
from lsp_harness.runtime.adapters.codex import Codex
from lsp_harness.runtime.adapters.custom import CustomAgent
from lsp_harness.runtime.adapters.gemini import Gemini
from lsp_harness.runtime.adapters.opencode import Opencode
from lsp_harness.runtime.adapters.own_agent import OwnAgent
from lsp_harness.runtime.adapters.terminal_adapter import Echo, ShellAdapter
from lsp_harness.runtime.agent_errors import InvalidSpec

BUILT_IN: Mapping[str, Callable[[], Adapter]] = {
    "echo": Echo,
    "shell": ShellAdapter,
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "opencode": Opencode,
    "lsp-harness": OwnAgent,
}
"""Name of a kind → its adapter, which is created at its first use."""


class AdapterRegistry:
    """All kinds of agents by their names.

    Args:
        settings: The agents that the user describes. One with a command and the name of a built-in kind takes
            its place.
    """

    def __init__(self, settings: Iterable[AgentSetting] = ()) -> None:
        self._custom: dict[str, AgentSetting] = {}
        self._created: dict[str, Adapter] = {}
        self.configure(settings)

    def configure(self, settings: Iterable[AgentSetting]) -> None:
        """Use other agents of the user from now on. Those that run go on."""
        for name in self._custom:
            self._created.pop(name, None)
        self._custom = {setting.name: setting for setting in settings if setting.name}
        for name in self._custom:
            self._created.pop(name, None)

    @property
    def names(self) -> list[str]:
        """The names of all kinds."""
        return sorted({*BUILT_IN, *self._custom})

    def require(self, name: str) -> Adapter:
        """Return the adapter of a kind.

        Raises:
            InvalidSpec: There is no such kind, or its settings are not valid.
        """
        if name not in self._created:
            setting = self._custom.get(name)
            if setting and (setting.command or name not in BUILT_IN):
                if not setting.command:
                    raise InvalidSpec(f"runtime.agents.{name} has no command", "write the command into your settings")
                self._created[name] = CustomAgent(setting)
            elif create := BUILT_IN.get(name):
                self._created[name] = create()
            else:
                raise InvalidSpec(f"there is no agent type {name!r}", f"the types are {', '.join(self.names)}")
        return self._created[name]

    def add(self, adapter: Adapter) -> None:
        """Add a kind, or replace one."""
        self._created[adapter.name] = adapter
        self._custom.pop(adapter.name, None)
