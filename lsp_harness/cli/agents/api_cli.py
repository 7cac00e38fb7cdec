"""`lsp-harness api`: the HTTP and WebSocket server of sessions and agents."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.extras import need_extra

if TYPE_CHECKING:
    from lsp_harness.api.access.api_state import ApiState
    from lsp_harness.api.browser_access import BrowserAccess


def api(
    *,
    port: Annotated[
        int | None, Parameter(help="The port on 127.0.0.1. Default: PORT, or 3100. 0 takes any free port.")
    ] = None,
    root: Annotated[
        list[Path] | None,
        Parameter(negative="", help="A folder in which sessions and agents may work. Default: the present folder."),
    ] = None,
    log_level: Annotated[str, Parameter(help="debug, info, warning or error. Default: LOG_LEVEL, or info.")] = "",
    max_agents: Annotated[
        int | None, Parameter(help="Agents that may run at once. Default: MAX_AGENTS, or runtime.max_agents.")
    ] = None,
    default_timeout: Annotated[
        int | None, Parameter(help="Milliseconds for a message without a time of its own. Default: DEFAULT_TIMEOUT.")
    ] = None,
) -> int:
    """Serve sessions and agents to programs and browsers of this machine.

    It speaks HTTP and WebSockets, and GET /openapi.json describes its routes. Requests need the token, which is in a
    file that only you can read.
    """
    with need_extra("api"):
        from lsp_harness.api.api_server import serve
        from lsp_harness.api.api_settings import read_api_settings

    settings = read_api_settings(
        port=port, log_level=log_level, max_agents=max_agents, default_timeout_ms=default_timeout
    )
    return asyncio.run(serve(settings, root or [Path.cwd()], read_settings, _report_start))


def _report_start(state: "ApiState", browsers: "BrowserAccess") -> None:
    from lsp_harness.api.access.api_state import make_api_folder

    say(f"lsp-harness api listens on {state.url}")
    say(f"  curl:    CURL_HOME={make_api_folder()} curl {state.url}/health")
    if sys.stdout.isatty():
        # the code works once and for a minute; a log would keep it longer
        say(f"  browser: {state.url}/login?code={browsers.create_code()}")
        say("           (works once, within a minute; lsp-harness agents page prints another)")
    else:
        say("  browser: lsp-harness agents page prints a link")
    sys.stdout.flush()
