"""`lsp-harness mcp`: the tools of the project for other agents, over the Model Context Protocol."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import warn
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.cli.sessions.ending_signals import Termination
from lsp_harness.config import paths
from lsp_harness.errors import UsageError
from lsp_harness.extras import need_extra
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.mcp.served_project import ServedProject
from lsp_harness.mcp.served_sessions import ServedSessions
from lsp_harness.process.signals import ENDING_SIGNALS
from lsp_harness.sessions.model_choice import choose_model
from lsp_harness.sessions.session_options import SessionOptions


def mcp(
    *,
    project: Annotated[Path, Parameter(help="The folder of the project. The default is the present folder.")] = Path(),
    http: Annotated[
        int | None,
        Parameter(help="Serve streamable HTTP on this port of 127.0.0.1 instead; 0 is a free one."),
    ] = None,
    token_file: Annotated[
        Path | None, Parameter(help="The file with the token of HTTP. It is made if it is missing.")
    ] = None,
    provider: Annotated[str, Parameter(("--provider", "-p"), help="Where the model runs, as for `run`.")] = "",
    model: Annotated[str, Parameter(("--model", "-m"), help="The model, as for `run`.")] = "",
    permission_mode: Annotated[
        str, Parameter(help="The permission mode of run_turn. The default is that of the settings, else ask.")
    ] = "",
) -> int:
    """Serve code search, checks and edits to other agents, as an MCP server.

    It speaks over standard input and output; agents start it themselves. docs/mcp-server.md says how.
    """
    if not project.is_dir():
        raise UsageError(f"there is no folder {str(project)!r}")
    given = {"cwd": str(project), "provider": provider, "model": model, "permission_mode": permission_mode}
    options = SessionOptions.from_mapping(given | {"source": "mcp"})
    work = _serve(options, http, token_file)
    return asyncio.run(Termination((*ENDING_SIGNALS, signal.SIGINT)).guard(work))


async def _serve(options: SessionOptions, port: int | None, token_file: Path | None) -> int:
    with need_extra("mcp"):
        from lsp_harness.mcp.project_server import create_server
    config = choose_model(read_settings(options.root), options.provider or "", options.model or "")
    project = ServedProject(options.root, config, make_engine)
    sessions = ServedSessions(project, options)
    try:
        server = create_server(project, sessions)
        if port is None:
            from lsp_harness.mcp.stdio_serving import serve_stdio

            await serve_stdio(server)
        else:
            from lsp_harness.mcp.http_serving import TOKEN_NAME, read_token, serve_http

            file = token_file or paths.state_folder() / TOKEN_NAME
            token = read_token(file)
            await serve_http(server, port, token, lambda url: warn(f"MCP at {url}; the token is in {file}"))
    finally:
        await sessions.aclose()
        await project.aclose()
    return 0
