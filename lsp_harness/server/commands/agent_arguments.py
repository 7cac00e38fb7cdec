"""The arguments of the commands about agents. Raises UsageError and InvalidSpec."""

import base64
import binascii
from pathlib import Path
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import (
    DEFAULT_COLUMNS,
    DEFAULT_ROWS,
    RUNNER_NAMES,
    AgentSpec,
    Isolation,
    RunnerName,
    TransportName,
)
from lsp_harness.runtime.viewer_sizes import MAX_SIDE
from lsp_harness.server.commands.command_arguments import SessionArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.text.uri import local_path

TRANSPORTS = ("", "acp", "stream-json", "pty")
RUNNERS = ("", *RUNNER_NAMES)
ISOLATIONS = ("none", "worktree")
MAX_KEY_BYTES = 1_000_000


class AgentArguments(SessionArguments):
    """The only argument of a command about agents: an object.

    Args:
        params: The params of the request.
    """

    @property
    def agent_id(self) -> str:
        """The id of an agent, or its name."""
        return self.text("agentId")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty if it is missing."""
        value = self.value(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[Any]", value)):
            raise UsageError(f"{name} must be a list of strings, not {value!r}")
        return tuple(cast("list[str]", value))

    def size(self, name: str) -> int | None:
        """Return the width or the height of a terminal, or None if it is missing."""
        value = self.number(name)
        if value is not None and not 1 <= value <= MAX_SIDE:
            raise UsageError(f"{name} must be a number from 1 to {MAX_SIDE}, not {value}")
        return value

    def timeout_s(self) -> float | None:
        """Return `timeoutMs` in seconds, or None if it is missing."""
        value = self.number("timeoutMs")
        if value is not None and value <= 0:
            raise UsageError(f"timeoutMs must be more than 0, not {value}")
        return None if value is None else value / 1000

    def bytes(self, name: str) -> bytes:
        """Return bytes that are sent as base64."""
        text = self.text(name)
        if len(text) > MAX_KEY_BYTES:
            raise UsageError(f"{name} is longer than {MAX_KEY_BYTES} characters")
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise UsageError(f"{name} must be base64") from None

    def spec(self, client: EditorClient) -> AgentSpec:
        """Return the description of the agent to start. It works in a folder of the workspace."""
        if self.flag("terminal") and self.word("transport", TRANSPORTS) not in ("", "pty"):
            raise InvalidSpec("an agent in a terminal has the transport pty", "leave transport or terminal out")
        transport = "pty" if self.flag("terminal") else self.word("transport", TRANSPORTS)
        return AgentSpec(
            type=self.text("type"),
            workdir=self._find_workdir(client),
            name=self.text("name", ""),
            args=self.texts("args"),
            columns=self.size("columns") or DEFAULT_COLUMNS,
            rows=self.size("rows") or DEFAULT_ROWS,
            transport=cast("TransportName", transport),
            permission_mode=self.text("permissionMode", ""),
            runner=cast("RunnerName", self.word("runner", RUNNERS)),
            isolation=cast("Isolation", self.word("isolation", ISOLATIONS)),
            idle_timeout_s=self.seconds("idleTimeoutS", 0.0),
            model=self.text("model", ""),
            network=self.flag("network", default=True),
        )

    def _find_workdir(self, client: EditorClient) -> Path:
        """Return the folder of an agent: `workdir`, or the workspace folder of `uri`, or the first one."""
        roots = client.harness.workspace.roots
        if not roots:
            raise InvalidSpec("an agent needs a workspace folder", "open a folder in the editor")
        uri, named = self.text("uri", ""), self.text("workdir", "")
        file = local_path(uri) if uri else None
        root = next((root for root in roots if file and file.is_relative_to(root)), roots[0])
        folder = root / named
        # links are resolved, so that none leads out of the workspace
        if not any(folder.resolve().is_relative_to(each.resolve()) for each in roots):
            raise InvalidSpec(f"{folder} is in no folder of the workspace", "open that folder in the editor")
        return folder
