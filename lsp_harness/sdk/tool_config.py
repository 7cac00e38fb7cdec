"""The file of MCP servers that a session gets by `--mcp-config`.

It lies in a private temporary folder, because it has the token of the tools, and because nothing may be written into
the working folder. It adds to the MCP servers of the settings, and replaces none.
"""

import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, cast

from lsp_harness.sdk.harness_options import usage_error

SERVER_NAME = "sdk"
"""The name of the server with Python functions. Its tools are `mcp__sdk__NAME`."""
SERVERS_KEY = "mcpServers"


class ToolConfig:
    """The file that tells a session of the server with the Python functions. It is removed by `close`, and at the
    latest when the interpreter ends.

    Args:
        entry: The entry of the server with the Python functions.
        other: A file of the user with further servers.
    """

    def __init__(self, entry: dict[str, Any], other: Path | None) -> None:
        servers = _read_servers(other) if other else {}
        if SERVER_NAME in servers:
            raise usage_error(f"{other} has a server with the reserved name {SERVER_NAME}; rename it")
        folder = tempfile.mkdtemp(prefix="lsp-harness-sdk-")
        self._removal = weakref.finalize(self, _remove, folder, os.getpid())
        self.path = Path(folder) / "mcp.json"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({SERVERS_KEY: {**servers, SERVER_NAME: entry}}, file)

    def close(self) -> None:
        """Remove the file and its folder."""
        self._removal()


def _remove(folder: str, owner: int) -> None:
    # a fork of the program leaves the folder to its parent
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _read_servers(path: Path) -> dict[str, Any]:
    try:
        value: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise usage_error(f"mcp_config {path} cannot be read: {error}") from error
    servers: Any = cast("dict[str, Any]", value).get(SERVERS_KEY) if isinstance(value, dict) else None
    if not isinstance(servers, dict):
        raise usage_error(f"mcp_config {path} has no object {SERVERS_KEY!r}")
    return cast("dict[str, Any]", servers)
