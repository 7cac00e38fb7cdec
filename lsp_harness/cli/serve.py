"""`lsp-harness serve`: the language server."""

from lsp_harness.config.load import load
from lsp_harness.config.schema import Config


def serve(*, stdio: bool = True, tcp: str | None = None, ws: str | None = None) -> int:
    """Serve one editor over the standard streams, a loopback socket or a WebSocket.

    Parameters
    ----------
    stdio
        Use the standard streams; this is the default and only there because many clients pass it.
    tcp
        Listen on HOST:PORT (loopback only) instead.
    ws
        Listen for a WebSocket on HOST:PORT (loopback only) instead; needs lsp-harness[ws].
    """
    from lsp_harness.server.main import serve as run

    return run(_make_harness, load, tcp=tcp, ws=ws)


def _make_harness(config: Config):
    from lsp_harness.cli.compose import make_harness

    return make_harness(config)
