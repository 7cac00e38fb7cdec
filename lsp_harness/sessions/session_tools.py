"""The tools of a session: our own, and those of MCP servers, which may change while the session runs."""

from collections.abc import Mapping

from lsp_harness.chat.mcp.mcp_servers import McpServers
from lsp_harness.chat.shown_tools import FindTool
from lsp_harness.chat.tool import Tool
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.rules import parse_rule, tool_matches


class SessionTools:
    """The tools of one session.

    Attributes:
        shown: Name → tool, for those that the model sees. It is changed in place.
        hidden: Those that the lists of tools forbid. It is changed in place.

    Args:
        own: Name → tool, for our own tools before those of servers.
        servers: The MCP servers.
        policy: Its lists of tools say which ones may be called.
        has_find_tool: Whether the model may look for tools.
    """

    def __init__(
        self, own: Mapping[str, Tool], servers: McpServers, policy: GatePolicy, *, has_find_tool: bool
    ) -> None:
        self._own, self._servers, self._policy, self._has_find_tool = own, servers, policy, has_find_tool
        self._last: dict[str, Tool] = {}
        self.shown: dict[str, Tool] = {}
        self.hidden: dict[str, Tool] = {}
        self._build()

    def add(self, tool: Tool) -> None:
        """Add a tool of ours after those of servers."""
        self._last[tool.name] = tool
        self._build()

    async def refresh(self) -> bool:
        """Read the lists of servers that have changed again. Return whether the model sees other tools now."""
        if not await self._servers.refresh():
            return False
        before = [(name, tool.description, tool.schema) for name, tool in self.shown.items()]
        self._build()
        return before != [(name, tool.description, tool.schema) for name, tool in self.shown.items()]

    @property
    def known(self) -> dict[str, Tool]:
        """All tools of the session but the one that finds others, whether they may be called or not."""
        return {**self._own, **self._servers.tools(), **self._last}

    def _build(self) -> None:
        self.shown.clear()
        self.hidden.clear()
        for name, tool in self.known.items():
            (self.shown if may_be_called(name, self._policy) else self.hidden)[name] = tool
        if self._has_find_tool and may_be_called(FindTool.name, self._policy):
            self.shown[FindTool.name] = FindTool(self.shown)


def may_be_called(name: str, policy: GatePolicy) -> bool:
    """Return whether the lists of tools allow any call of a tool. Only such tools are shown to the model."""
    texts = policy.allowed_tools
    is_listed = texts is None or any(tool_matches(parse_rule(text, "allow").tool, name) for text in texts)
    rules = [parse_rule(text, "deny") for text in policy.disallowed_tools]
    return is_listed and not any(rule.pattern is None and tool_matches(rule.tool, name) for rule in rules)
