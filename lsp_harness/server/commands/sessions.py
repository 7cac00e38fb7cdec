"""The commands about sessions: their turns, their tasks, their saved history, and the undo of their edits."""

from typing import Any, cast

from lsprotocol import types

from lsp_harness.kernel.results import Progress
from lsp_harness.server.commands.command_arguments import SessionArguments, camel_keys
from lsp_harness.server.commands.command_registry import command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress
from lsp_harness.sessions.session_export import EXPORT_FORMATS, ExportFormat
from lsp_harness.sessions.session_options import DRIVERS
from lsp_harness.wire.event import Event
from lsp_harness.wire.stage_lines import describe_stage
from lsp_harness.workspace.snapshot import Snapshot

TITLE = "lsp-harness"
MAX_LINE_CHARS = 240
SHOWN_SESSIONS = 20
WAIT_S = 30.0


@command(
    "lspHarness.agent.run",
    arguments="[{prompt, sessionId?, uri?, driver?, partialResultToken?}]",
    description=(
        "runs a turn of the session, or of a new one in the workspace folder of `uri`. A new session has the `driver` "
        "`chat`, a conversation with tools, or `code`, which [answers and makes checked edits](code-driver.md). "
        "Without one, it is the one that [fits the model](models.md#what-a-model-can-do). The "
        "progress of the request shows the steps and tools, and with `partialResultToken` pieces of the answer arrive "
        "as `$/progress` with `{text}`. A request that is cancelled stops the turn"
    ),
    result=(
        "`sessionId`, `turn` (its number), `text` (the answer), `reason` (`completed`, `interrupted`, `max_turns`, "
        "`budget_exceeded`, `denied` or `error`) and `detail`"
    ),
)
async def run_turn(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    arguments = SessionArguments(params)
    prompt, session_id, uri = arguments.text("prompt"), arguments.text("sessionId", ""), arguments.text("uri", "")
    driver = arguments.word("driver", ("", *DRIVERS))
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
    """Return the line of a stage. The classes of events are imported when a session has one."""
    from lsp_harness.events.event_codec import encode_frame

    return describe_stage(encode_frame(event) or {})


@command(
    "lspHarness.agent.steer",
    arguments="[{sessionId, text}]",
    description="sends a text into the running turn, at its next step",
    result="`itemId` of the waiting text",
)
async def steer(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("steer", arguments.session_id, arguments.fields)
    return camel_keys(result)


@command(
    "lspHarness.agent.followUp",
    arguments="[{sessionId, text}]",
    description="keeps a text for the next turn, which begins by itself",
    result="`itemId` of the waiting text",
)
async def follow_up(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("follow_up", arguments.session_id, arguments.fields)
    return camel_keys(result)


@command(
    "lspHarness.agent.interrupt",
    arguments="[{sessionId}]",
    description="stops the running turn. The session goes on",
    result="`interrupted`: whether a turn ran",
)
async def interrupt(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return await client.sessions.interrupt(SessionArguments(params).session_id)


@command(
    "lspHarness.permission.respond",
    arguments="[{requestId, decision, remember?, reason?}]",
    description=(
        "answers a question about a permission. `decision` is `allow` or `deny`; `remember` is `once`, "
        "`session` or `always`; `reason` tells the model why not"
    ),
    result="null",
)
async def respond(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    client.sessions.answer_question(arguments.text("requestId"), arguments.fields)


@command(
    "lspHarness.edit.undo",
    arguments="[{sessionId, turn?, paths?, commands?, force?, redo?, preview?}]",
    description=(
        "gives the files that a turn of a session changed (the last one) the texts that they had before it. "
        "`commands` restores files that changed while commands ran, too, `force` also those that somebody changed "
        "since, and `redo` takes the last undo back. With `preview`, nothing is changed. Edits that the editor applied "
        "are undone in the editor"
    ),
    result=(
        "`turn`, `paths`, `removed`, `skipped`: path → why it is not restored, `commands`: those that changed while "
        "a command ran, and `texts`: path → `before` and `after` → the file with this text"
    ),
)
async def undo(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("undo", arguments.session_id, {**arguments.fields, "confirmed": True})
    return camel_keys(result)


@command(
    "lspHarness.events.since",
    arguments="[{sessionId, seq?}]",
    description="returns the events of a session after the number `seq`, for a client that was not there",
    result=(
        "`sessionId`, `events` (as in [`$/lspHarness/event`](#conversations)), `next` (the next `seq`), and "
        "`isComplete`"
    ),
)
async def events_since(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    seq = arguments.number("seq")
    found = client.sessions.events_since(arguments.session_id, -1 if seq is None else seq)
    return {
        "sessionId": found["session_id"],
        "events": found["events"],
        "next": found["next"],
        "isComplete": found["is_complete"],
    }


@command(
    "lspHarness.session.list",
    arguments="[{limit?}]",
    description="lists the saved sessions, the last one first, at most `limit` (20)",
    result=(
        "for each session `id`, `startedAt`, `folder`, `driver`, `model`, `turns`, `events`, `title`, "
        "`parent`, `forkSeq` and `isOpen`"
    ),
)
async def list_sessions(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    client.sessions.require_trust()
    limit = SessionArguments(params).number("limit")
    return camel_keys(client.sessions.list_saved(SHOWN_SESSIONS if limit is None else max(0, limit)))


@command(
    "lspHarness.session.show",
    arguments="[{sessionId}]",
    description="shows what happened in a session",
    result="`sessionId`, `turns`, `events`, `isOpen`, and `text`: the requests, tools, answers and edits",
)
async def show(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return camel_keys(client.sessions.show(SessionArguments(params).session_id))


@command(
    "lspHarness.session.resume",
    arguments="[{sessionId}]",
    description="opens a saved session, so that no other process can continue it meanwhile",
    result="`sessionId`, `events`, `model`, `permissionMode`",
)
async def resume(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    opened = await client.sessions.resume(SessionArguments(params).session_id)
    return {
        "sessionId": opened.session.id,
        "events": opened.session.state.next_seq,
        "model": opened.model,
        "permissionMode": opened.permission_mode,
    }


@command(
    "lspHarness.session.close",
    arguments="[{sessionId}]",
    description="stops a session of this editor, so that another process can continue it",
    result="null",
)
async def close(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    await client.sessions.close(SessionArguments(params).session_id)


@command(
    "lspHarness.session.fork",
    arguments="[{sessionId, atSeq?}]",
    description="begins a session that continues another one after the event `atSeq` (the last one)",
    result="`sessionId` of the new session and `events`, the number of those that it continues",
)
async def fork(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    return camel_keys(client.sessions.fork(arguments.session_id, arguments.number("atSeq")))


@command(
    "lspHarness.session.export",
    arguments="[{sessionId, format?}]",
    description="returns the whole history of a session. `format` is `json`, `lines` (of JSON) or `transcript`",
    result="`text`",
)
async def export(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    format = arguments.word("format", EXPORT_FORMATS)
    return {"text": client.sessions.export(arguments.session_id, cast("ExportFormat", format))}


@command(
    "lspHarness.task.list",
    arguments="[{sessionId}]",
    description="lists the tasks of a session",
    result="for each task `taskId`, `kind`, `title`, `status` and `summary`",
)
async def list_tasks(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return camel_keys(client.sessions.list_tasks(SessionArguments(params).session_id))


@command(
    "lspHarness.task.read",
    arguments="[{sessionId, taskId, since?}]",
    description="returns the output of a task from the byte `since` on",
    result="`text`, `cursor` (the next `since`) and `isRunning`",
)
async def read_task(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("read_task", arguments.session_id, arguments.fields)
    return camel_keys(result)


@command(
    "lspHarness.task.wait",
    arguments="[{sessionId, taskId, timeout?}]",
    description="waits until a task has ended, or for `timeout` seconds (30)",
    result="`taskId` and `status`",
)
async def wait_for_task(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    task_id, timeout_s = arguments.text("taskId"), arguments.seconds("timeout", WAIT_S)
    return camel_keys(await client.sessions.wait_for_task(arguments.session_id, task_id, timeout_s))


@command(
    "lspHarness.task.cancel",
    arguments="[{sessionId, taskId}]",
    description="ends a task and all its processes",
    result="`taskId` and `status`",
)
async def cancel_task(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("cancel_task", arguments.session_id, arguments.fields)
    return camel_keys(result)
