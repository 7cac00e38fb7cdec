"""`lspHarness.permission.respond`: answers a question about a permission."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.permission.respond",
    arguments="[{requestId, decision, remember?, reason?}]",
    description=(
        "answers a question about a permission. `decision` is `allow` or `deny`; `remember` is `once`, "
        "`session` or `always`; `reason` tells the model why not"
    ),
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    client.sessions.answer_question(arguments.text("requestId"), arguments.fields)
