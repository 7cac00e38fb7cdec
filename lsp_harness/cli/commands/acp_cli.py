"""`lsp-harness acp`: an agent for editors that speak the Agent Client Protocol."""

import asyncio
import signal

from lsp_harness.cli.sessions.ending_signals import Termination
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.extras import need_extra
from lsp_harness.process.signals import ENDING_SIGNALS
from lsp_harness.sessions.session_options import SessionOptions


def acp(*, flags: SessionFlags | None = None) -> int:
    """Serve sessions to an editor, as an agent of the Agent Client Protocol.

    It speaks over standard input and output; editors start it themselves. docs/acp.md says how.
    """
    options = (flags or SessionFlags()).options("acp", has_person=True)
    return asyncio.run(Termination((*ENDING_SIGNALS, signal.SIGINT)).guard(_serve(options)))


async def _serve(options: SessionOptions) -> int:
    with need_extra("acp"):
        from lsp_harness.acp.stdio_agent import serve_stdio
    await serve_stdio(options)
    return 0
