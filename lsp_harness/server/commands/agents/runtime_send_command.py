"""`lspHarness.runtime.send`: gives an agent a message and returns its answer."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.send",
    arguments="[{agentId, message, timeoutMs?, queue?, force?}]",
    description=(
        "gives an agent a message and waits for its answer, at most `timeoutMs`. It must be ready. With "
        "`queue`, the message waits until it is, and `force` also sends to an agent whose state is not known or "
        "whose prompt has an unsent text. A request that is cancelled does not stop the agent"
    ),
    result="`sent`, `submitted` (whether the agent was seen to take it), `response` and `queued`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)

    agent = client.agents.require(arguments.agent_id)
    message, timeout_s = arguments.text("message"), arguments.timeout_s()
    reply = await agent.send(message, timeout_s=timeout_s, queue=arguments.flag("queue"), force=arguments.flag("force"))
    return reply.fields
