"""The MCP server of a project: its tools and resources."""

import json
import logging

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import ToolAnnotations

from lsp_harness.errors import HarnessError
from lsp_harness.mcp import served_sessions
from lsp_harness.mcp.code_tools import CodeTools, ProjectTools
from lsp_harness.mcp.project_answers import CodeAnswers, ProjectAnswers
from lsp_harness.mcp.served_project import ServedProject
from lsp_harness.mcp.served_sessions import ServedSessions
from lsp_harness.mcp.text_verification import TextVerifier
from lsp_harness.mcp.turn_tools import TurnTools
from lsp_harness.mcp.verdict_tools import VerdictTools
from lsp_harness.wire.version import VERSION

INSTRUCTIONS = """Code and checks of one project. Answers are code. Before you write a file, call verify_change with its
new text, and write nothing that failed. Only the first word passed means that tests ran the change. propose_edit lets
a local model write a small edit that no check fails."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ALWAYS_SHOWN = {"anthropic/alwaysLoad": True}
"""Claude Code shows the other tools to its model only after a search for them."""
WORKS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


def create_server(project: ServedProject, sessions: ServedSessions) -> "MCPServer[None]":
    """Return the server of a project.

    Args:
        project: The served folder.
        sessions: The sessions in that folder.
    """
    root = logging.getLogger()
    # with a handler in place, the library does not change the logging of the program
    placeholder = logging.NullHandler()
    root.addHandler(placeholder)
    try:
        server: MCPServer[None] = MCPServer(
            "lsp-harness", title="lsp-harness", version=VERSION, instructions=INSTRUCTIONS, log_level="ERROR"
        )
    finally:
        root.removeHandler(placeholder)
    code, verdicts, turns = CodeTools(CodeAnswers(project)), VerdictTools(TextVerifier(project)), TurnTools(sessions)
    texts = ProjectTools(ProjectAnswers(project))
    reading = (code.find_symbol, code.references, code.get_context, code.relations, code.locate)
    for tool in (*reading, texts.fix_error, texts.digest, texts.docs):
        server.add_tool(tool, annotations=READS, structured_output=False)
    for tool in (verdicts.verify_file, turns.propose_edit):
        server.add_tool(tool, annotations=READS)
    server.add_tool(verdicts.verify_change, annotations=READS, meta=ALWAYS_SHOWN)
    server.add_tool(turns.run_turn, annotations=WORKS)
    _add_resources(server, project, sessions)
    return server


def _add_resources(server: "MCPServer[None]", project: ServedProject, sessions: ServedSessions) -> None:
    @server.resource(served_sessions.SESSIONS_URI, name="sessions", mime_type="application/json")
    def list_sessions() -> str:
        """List the saved sessions of this project, the newest first."""
        return json.dumps(sessions.list_saved(), indent=1)

    @server.resource(served_sessions.SESSION_URI, name="session", mime_type="text/plain")
    def read_session(session: str) -> str:
        """Read what happened in a session."""
        try:
            return sessions.transcript(session)
        except HarnessError as error:
            raise ResourceNotFoundError(error.message) from error

    @server.resource(served_sessions.ARTIFACTS_URI, name="artifacts", mime_type="application/json")
    def list_artifacts(session: str) -> str:
        """List the large outputs of a session."""
        try:
            return json.dumps(sessions.list_artifacts(session), indent=1)
        except HarnessError as error:
            raise ResourceNotFoundError(error.message) from error

    @server.resource(served_sessions.ARTIFACT_URI, name="artifact", mime_type="text/plain")
    def read_artifact(session: str, artifact: str) -> str:
        """Read the beginning of a large output of a session."""
        try:
            part = sessions.read_artifact(session, artifact)
        except HarnessError as error:
            raise ResourceNotFoundError(error.message) from error
        rest = "" if part.is_end else f"\n… of {part.size:,} bytes, {part.next_offset:,} are shown"
        return part.text + rest

    @server.resource(served_sessions.VERDICT_URI, name="verdict", mime_type="text/markdown")
    def read_verdict(session: str, turn: str) -> str:
        """Read all details of a verdict."""
        try:
            return sessions.verdict(f"{session}/{turn}")
        except HarnessError as error:
            raise ResourceNotFoundError(error.message) from error
