"""`lspHarness.session.export`: returns the whole history of a session."""

from typing import Any, cast

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.sessions.session_export import EXPORT_FORMATS, ExportFormat
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.session.export",
    arguments="[{sessionId, format?}]",
    description="returns the whole history of a session. `format` is `json`, `lines` (of JSON) or `transcript`",
    result="`text`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    format = arguments.word("format", EXPORT_FORMATS)
    return {"text": client.sessions.export(arguments.session_id, cast("ExportFormat", format))}
