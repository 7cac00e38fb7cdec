"""`lsp-harness serve`: the language server."""

import sys
from functools import partial
from typing import TYPE_CHECKING

from lsp_harness.config.load import load
from lsp_harness.config.schema import Config

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.workspace.workspace import Workspace


def serve(*, stdio: bool = True, tcp: str | None = None, ws: str | None = None) -> int:
    """Run the language server; editors start it themselves.

    It serves one editor over standard input and output, over a socket or over a WebSocket.

    Parameters
    ----------
    stdio
        Use standard input and output. This is the default. The option exists because many editors pass it.
    tcp
        Listen for a connection on HOST:PORT instead. HOST must be this machine, for example 127.0.0.1:2087.
    ws
        Listen for a WebSocket on HOST:PORT instead. HOST must be this machine. This needs:
        pip install 'lsp-harness[api]'.
    """
    from lsp_harness.server.main import serve as run

    stream = sys.stderr if tcp or ws else sys.stdin
    if stream and stream.isatty():
        from lsp_harness.cli.console import warn

        warn("the language server waits for an editor; editors start it themselves (docs/editors.md); Ctrl-C ends it")
    # the server loads the settings of a project only if the user of the editor trusts it
    return run(_make_harness, partial(load, is_trusted=True), tcp=tcp, ws=ws)


def _make_harness(config: Config, workspace: "Workspace") -> "Harness":
    from lsp_harness.cli.composition import make_harness

    return make_harness(config, workspace)
