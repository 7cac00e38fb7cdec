"""`lspHarness.runtime.answer`: answers a question of an agent."""

from typing import Any

from lsprotocol import types

from lsp_harness.runtime.connection import QuestionAnswer
from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.answer",
    arguments="[{agentId, questionId, isAllowed, reason?, text?}]",
    description=(
        "answers a question of an agent. `isAllowed` says whether it may do what it asks for, and `reason` "
        "why not; `text` is the answer to a question in words, or one of its options"
    ),
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)

    agent = client.agents.require(arguments.agent_id)
    is_allowed, reason, text = arguments.flag("isAllowed"), arguments.text("reason", ""), arguments.text("text", "")
    await agent.answer(arguments.text("questionId"), QuestionAnswer(is_allowed, reason, text))
