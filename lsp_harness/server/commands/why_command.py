"""`lspHarness.why`: return the document of a verdict, for clients that cannot request the content of a URI."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import single_string
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.lsp_conversion import verdict_name
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.why",
    arguments="[uri of a verdict]",
    description="returns the document of a verdict, for clients without `workspace/textDocumentContent`",
    result="`text`: the document, in Markdown",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return {"text": client.harness.turns.verdict(verdict_name(single_string(params, "the URI of a verdict")))}
