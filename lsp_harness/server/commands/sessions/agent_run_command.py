"""`lspHarness.agent.run`: run a turn of a conversation. Its tools and texts are shown while it runs."""

from typing import Any

from lsprotocol import types

from lsp_harness.kernel.results import Progress
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.progress import show_progress
from lsp_harness.sessions.session_options import DRIVERS
from lsp_harness.wire.event import Event
from lsp_harness.wire.stage_lines import describe_stage
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.agent.run",
    arguments="[{prompt, sessionId?, uri?, driver?, partialResultToken?}]",
    description=(
        "runs a turn of the session, or of a new one in the workspace folder of `uri`. A new session has the `driver` "
        "`chat`, a conversation with tools, or `code`, whose prompts become [checked edits](code-driver.md). The "
        "progress of the request shows the steps and tools, and with `partialResultToken` pieces of the answer arrive "
        "as `$/progress` with `{text}`. A request that is cancelled stops the turn"
    ),
    result=(
        "`sessionId`, `turn` (its number), `text` (the answer), `reason` (`completed`, `interrupted`, `max_turns`, "
        "`budget_exceeded`, `denied` or `error`) and `detail`"
    ),
)
TITLE = "lsp-harness"
MAX_LINE_CHARS = 240


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    arguments = SessionArguments(params)
    prompt, session_id, uri = arguments.text("prompt"), arguments.text("sessionId", ""), arguments.text("uri", "")
    driver = arguments.word("driver", DRIVERS)
    token = arguments.token("partialResultToken")
    with show_progress(client, TITLE, params.work_done_token) as report:

        def follow(event: Event) -> None:
            if event.type == "text.delta":
                if token is not None:
                    value = {"text": event.data.get("content", "")}
                    client.server.progress(types.ProgressParams(token=token, value=value))
            elif line := describe_step(event):
                report(Progress(line))

        reply = await client.sessions.run(prompt, session_id, uri, follow, driver=driver)
    return {
        "sessionId": reply.session_id,
        "turn": reply.turn,
        "reason": reply.reason,
        "detail": reply.detail,
        "text": reply.text,
    }


def describe_step(event: Event) -> str:
    """Return a line for the progress bar about an event of a turn, or an empty text."""
    data = event.data
    match event.type:
        case "turn.started":
            line = "thinking"
        case "state.entered" | "state.exited" | "candidate.rejected" | "verify.completed":
            line = _describe_stage(event)
        case "step.started":
            line = f"step {data.get('number')}"
        case "tool.started":
            values = dict[str, Any](data.get("input") or {}).values()
            line = f"{data.get('tool')} {next((value for value in values if isinstance(value, str)), '')}"
        case "tool.failed":
            line = f"{data.get('tool')}: {data.get('reason')}"
        case "permission.requested":
            line = f"{data.get('tool')} waits for your permission"
        case _:
            return ""
    return " ".join(line.split())[:MAX_LINE_CHARS]


def _describe_stage(event: Event) -> str:
    from lsp_harness.events.event_codec import encode_frame

    return describe_stage(encode_frame(event) or {})
