"""The routes of sessions: their turns, events, questions about permissions, tasks, artifacts and verdicts."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from lsp_harness.api import api_schemas as schemas
from lsp_harness.api.api_errors import NotFound
from lsp_harness.api.api_route import ApiCall, ApiRoute, QueryField
from lsp_harness.api.event_streams import MAX_EVENTS, read_events, stream_events
from lsp_harness.errors import UsageError
from lsp_harness.events.tool_events import PermissionRequested
from lsp_harness.harness.verification.verdict_document import render_document
from lsp_harness.kernel.artifacts import MAX_READ_BYTES, read_artifact
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.sessions.session_list import find_sessions, list_tree
from lsp_harness.sessions.session_options import DRIVERS
from lsp_harness.text.ulid import is_ulid

SESSION_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{4,26}")
"""The id of a session or its beginning, so that no path can be hidden in it."""
QUEUE_COMMANDS = {"steer": "steer", "follow_up": "follow_up"}
MAX_PROMPT_CHARS = 1_000_000


def require_session(call: ApiCall) -> str:
    """Return the whole id of the session of the address. Raise NotFound."""
    prefix = call.path["session_id"].upper()
    try:
        if SESSION_ID.fullmatch(prefix):
            return call.context.store.find(prefix)
    except UsageError:
        pass
    if prefix in call.context.sessions.opened:
        # a new session without events has no log on disk
        return prefix
    raise NotFound("there is no such session", "list the sessions with GET /sessions")


# -- sessions
async def list_sessions(call: ApiCall) -> Any:
    """Return the last sessions."""
    words = call.query["q"]
    if words.strip():
        found = find_sessions(call.context.store, words)[: call.query["limit"]]
        return {"sessions": [{**asdict(row), "match": match} for row, match in found]}
    return {"sessions": call.context.sessions.list_saved(call.query["limit"])}


async def list_session_tree(call: ApiCall) -> Any:
    """Return the sessions below those that they continue or belong to."""
    return {"sessions": [{"depth": depth, **asdict(row)} for depth, row in list_tree(call.context.store)]}


async def create_session(call: ApiCall) -> Any:
    """Begin a session."""
    folder = call.context.find_folder(call.body.get("workdir", "."))
    opened = await call.context.sessions.require("", folder.as_uri(), call.body.get("driver", ""))
    return JSONResponse(opened.status(), 201, {"location": f"/sessions/{opened.session.id}"})


async def show_session(call: ApiCall) -> Any:
    """Return what happened in a session."""
    name = require_session(call)
    status = await call.context.sessions.command("status", name, {}) if name in call.context.sessions.opened else None
    return {**call.context.sessions.show(name), "status": status}


async def close_session(call: ApiCall) -> Any:
    """Let another process continue a session."""
    await call.context.sessions.close(require_session(call))


async def export_session_events(call: ApiCall) -> Any:
    """Return or stream the events of a session."""
    name = require_session(call)
    if call.accepts("text/event-stream"):
        return stream_events(call, name)
    return read_events(call, name)


# -- turns
async def run_turn(call: ApiCall) -> Any:
    """Run a turn."""
    name, prompt = require_session(call), call.body["prompt"]
    turn = call.context.run(call.context.sessions.run(prompt, name))
    if not call.query["wait"]:
        await call.context.wait_briefly(turn)
        if turn.done():
            return asdict(turn.result())
        return JSONResponse({"session_id": name, "accepted": True}, 202)
    # the turn goes on if the client goes
    return asdict(await asyncio.shield(turn))


async def queue_text(call: ApiCall) -> Any:
    """Keep a text for the running turn or the next one."""
    kind = QUEUE_COMMANDS[call.body.get("kind", "steer")]
    return await call.context.sessions.command(kind, require_session(call), {"text": call.body["text"]})


async def interrupt_session(call: ApiCall) -> Any:
    """Stop the running turn."""
    return await call.context.sessions.interrupt(require_session(call))


async def fork_session(call: ApiCall) -> Any:
    """Begin a session that continues another one."""
    return JSONResponse(call.context.sessions.fork(require_session(call), call.body.get("at_seq")), 201)


async def undo_turn(call: ApiCall) -> Any:
    """Undo the edits of a turn."""
    fields = {**call.body, "confirmed": True}
    result = await call.context.sessions.command("undo", require_session(call), fields)
    return {"removed": [], "commands": [], "texts": {}, "is_preview": False, **result}


# -- permissions
async def list_permissions(call: ApiCall) -> Any:
    """Return the open questions about permissions."""
    return {"permissions": _open_permissions(call)}


async def answer_permission(call: ApiCall) -> Any:
    """Answer a question about a permission."""
    request_id = call.path["request_id"]
    if all(row["request_id"] != request_id for row in _open_permissions(call)):
        raise NotFound("there is no such open question", "list them with GET /permissions")
    call.context.sessions.answer_question(request_id, call.body)
    return {"answered": True}


# -- tasks and artifacts
async def list_tasks(call: ApiCall) -> Any:
    """Return the tasks of a session."""
    return {"tasks": call.context.sessions.list_tasks(require_session(call))}


async def read_task(call: ApiCall) -> Any:
    """Return the output of a task."""
    fields = {"task_id": _require_ulid(call, "task_id"), "since": call.query["since"]}
    return await call.context.sessions.command("read_task", require_session(call), fields)


async def cancel_task(call: ApiCall) -> Any:
    """End a task and all its processes."""
    fields = {"task_id": _require_ulid(call, "task_id")}
    return await call.context.sessions.command("cancel_task", require_session(call), fields)


async def list_artifacts(call: ApiCall) -> Any:
    """Return the artifacts of a session."""
    name, store = require_session(call), call.context.store
    events = read_history(store.folder, name)
    return {"artifacts": [dict(event.data) for event in events if event.type == "artifact.created"]}


async def show_artifact(call: ApiCall) -> Any:
    """Return a part of an artifact."""
    name, store = require_session(call), call.context.store
    folders = [store.folder / id for id in store.lineage(name)]
    artifact_id, query = _require_ulid(call, "artifact_id"), call.query
    part = read_artifact(folders[0], artifact_id, query["since"], query["limit"], parents=folders[1:])
    if call.accepts("text/plain"):
        return PlainTextResponse(part.text)
    return {"text": part.text, "cursor": part.next_offset, "size": part.size}


# -- verdicts
async def list_verdicts(call: ApiCall) -> Any:
    """Return the verdicts of a session."""
    name = require_session(call)
    rows = [
        {"turn": event.turn, "seq": event.seq, "timestamp": event.ts, "session_id": event.session_id, **event.data}
        for event in read_history(call.context.store.folder, name)
        if event.type == "verify.completed"
    ]
    return {"verdicts": rows}


async def show_verdict(call: ApiCall) -> Response:
    """Return the document of a turn."""
    name, turn = require_session(call), call.path["turn"]
    if not (turn.isascii() and turn.isdigit() and len(turn) <= 6):
        raise NotFound("there is no such turn", "list the verdicts of the session")
    try:
        return PlainTextResponse(
            render_document(f"{name}/{int(turn)}", None), media_type="text/markdown; charset=utf-8"
        )
    except UsageError as error:
        raise NotFound(error.message, "list the verdicts of the session") from error


def _open_permissions(call: ApiCall) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, opened in call.context.sessions.opened.items():
        saved = opened.session.state.open_questions
        for asked in opened.parts.questions.asked:
            # the log has no text, and the question of a subagent is in the log of that
            known = saved.get(asked.request_id) or PermissionRequested(
                asked.request_id,
                asked.action.tool,
                reason=asked.reason,
                call_id=asked.action.call_id,
                paths=tuple(map(str, asked.action.paths)),
                suggestions=asked.suggestions,
                mode=opened.permission_mode,
            )
            rows.append({"session_id": name, **asdict(known), "text": asked.text})
    return rows


def _require_ulid(call: ApiCall, name: str) -> str:
    value = call.path[name].upper()
    if not is_ulid(value):
        raise NotFound(f"the session has no {name.removesuffix('_id')} with this id", "list what the session has")
    return value


SESSION, TURN_END = schemas.refer("Session"), schemas.refer("TurnEnd")
FIRST_BYTE = QueryField("since", "integer", "The byte to begin with.", default=0)
WAIT = QueryField("wait", "boolean", "With 0, the answer is 202 at once, and the events have the rest.", default=True)
NOT_FOUND = ("NOT_FOUND",)
STATUS: Mapping[str, Any] = schemas.open_object("The state of an open session in numbers and names.")
SESSION_ROUTES: Sequence[ApiRoute] = (
    ApiRoute(
        "GET",
        "/sessions",
        "listSessions",
        "List the last sessions, the newest first.",
        list_sessions,
        schemas.answer(sessions=schemas.list_of(SESSION)),
        query=(
            QueryField("limit", "integer", "The largest number of sessions.", default=50, minimum=1, maximum=1000),
            QueryField("q", "string", "Only sessions with all of these words.", default=""),
        ),
    ),
    ApiRoute(
        "POST",
        "/sessions",
        "createSession",
        "Begin a session.",
        create_session,
        STATUS,
        status=201,
        body=schemas.body(
            workdir=schemas.text("Its folder, in a root of the server. Default: the first root.", maxLength=4096),
            driver=schemas.text(
                "chat: a conversation with tools. code: answers about the code and checked edits. Default: the one "
                "that fits the model.",
                enum=list(DRIVERS),
            ),
        ),
    ),
    ApiRoute(
        "GET",
        "/sessions/tree",
        "listSessionTree",
        "List the sessions below those that they belong to.",
        list_session_tree,
        schemas.answer(sessions=schemas.list_of(SESSION)),
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}",
        "showSession",
        "Show what happened in a session.",
        show_session,
        schemas.answer(
            session_id=schemas.text(),
            turns=schemas.number(),
            events=schemas.number(),
            is_open=schemas.flag(),
            text=schemas.text("The history in words."),
            status=STATUS,
        ),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "POST",
        "/sessions/{session_id}/close",
        "closeSession",
        "Let another process continue a session.",
        close_session,
        schemas.answer(),
        status=204,
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}/events",
        "readSessionEvents",
        "Read or follow the events of a session.",
        export_session_events,
        schemas.answer(
            events=schemas.list_of(schemas.refer("SessionEvent")), next=schemas.number(), is_complete=schemas.flag()
        ),
        description="With `Accept: text/event-stream`: all events, then each new one. `event` is the type, `data` "
        "the SessionEvent, and `id` its seq for `Last-Event-ID`. Pieces of text (text.delta) have no id.",
        query=(
            QueryField("since", "integer", "Only events after this number. -1 is all.", default=-1, minimum=-1),
            QueryField(
                "limit", "integer", "The largest number of events.", default=MAX_EVENTS, minimum=1, maximum=MAX_EVENTS
            ),
        ),
        errors=NOT_FOUND,
        streams=("text/event-stream",),
    ),
    ApiRoute(
        "POST",
        "/sessions/{session_id}/turns",
        "runTurn",
        "Send a prompt, and wait for the end of its turn.",
        run_turn,
        TURN_END,
        body=schemas.body("prompt", prompt=schemas.text("What to do.", minLength=1, maxLength=MAX_PROMPT_CHARS)),
        query=(WAIT,),
        errors=("NOT_FOUND", "INVALID", "ENGINE_UNAVAILABLE"),
    ),
    ApiRoute(
        "POST",
        "/sessions/{session_id}/queue",
        "queueText",
        "Send a text into the running turn, or for the next one.",
        queue_text,
        schemas.answer(item_id=schemas.text()),
        body=schemas.body(
            "text",
            text=schemas.text(minLength=1, maxLength=MAX_PROMPT_CHARS),
            kind=schemas.text("`steer` is for the running turn.", enum=list(QUEUE_COMMANDS)),
        ),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "POST",
        "/sessions/{session_id}/interrupt",
        "interruptSession",
        "Stop the running turn.",
        interrupt_session,
        schemas.answer(interrupted=schemas.flag()),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "POST",
        "/sessions/{session_id}/fork",
        "forkSession",
        "Begin a session that continues another one.",
        fork_session,
        schemas.answer(session_id=schemas.text(), events=schemas.number()),
        status=201,
        body=schemas.body(at_seq=schemas.number("The last event to continue. Default: the last one.", minimum=0)),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "POST",
        "/sessions/{session_id}/undo",
        "undoTurn",
        "Undo the edits of a turn.",
        undo_turn,
        schemas.answer(
            turn=schemas.number(),
            paths=schemas.list_of(schemas.text()),
            skipped=schemas.open_object(),
            removed=schemas.list_of(schemas.text()),
            commands=schemas.list_of(schemas.text()),
            texts=schemas.open_object(),
            is_preview=schemas.flag(),
        ),
        body=schemas.body(
            turn=schemas.number("Default: the last turn that changed files.", minimum=0),
            paths=schemas.list_of(schemas.text()),
            commands=schemas.flag("Also files that changed while commands of the turn ran."),
            force=schemas.flag("Also files that somebody changed after the turn."),
            redo=schemas.flag("Take the last undo back instead."),
            preview=schemas.flag("Change nothing, and say what would happen."),
        ),
        errors=("NOT_FOUND", "CONFLICT", "INVALID"),
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}/tasks",
        "listTasks",
        "List the tasks of a session.",
        list_tasks,
        schemas.answer(tasks=schemas.list_of(schemas.refer("Task"))),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}/tasks/{task_id}",
        "readTask",
        "Read the output of a task.",
        read_task,
        schemas.answer(text=schemas.text(), cursor=schemas.number(), is_running=schemas.flag()),
        query=(FIRST_BYTE,),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "POST",
        "/sessions/{session_id}/tasks/{task_id}/cancel",
        "cancelTask",
        "End a task and all its processes.",
        cancel_task,
        schemas.answer(task_id=schemas.text(), status=schemas.text()),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}/artifacts",
        "listArtifacts",
        "List the large outputs of a session.",
        list_artifacts,
        schemas.answer(
            artifacts=schemas.list_of(
                schemas.answer(artifact_id=schemas.text(), kind=schemas.text(), bytes=schemas.number())
            )
        ),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}/artifacts/{artifact_id}",
        "readArtifact",
        "Read a part of a large output.",
        show_artifact,
        schemas.answer(text=schemas.text(), cursor=schemas.number(), size=schemas.number()),
        query=(
            FIRST_BYTE,
            QueryField(
                "limit", "integer", "The largest number of bytes.", default=100_000, minimum=1, maximum=MAX_READ_BYTES
            ),
        ),
        errors=NOT_FOUND,
        streams=("text/plain",),
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}/verdicts",
        "listVerdicts",
        "List the verdicts of a session.",
        list_verdicts,
        schemas.answer(
            verdicts=schemas.list_of(
                schemas.open_object(
                    "turn, seq, timestamp, candidate, passed, and outcomes: a list of check, status, reason, ms, lines."
                )
            )
        ),
        errors=NOT_FOUND,
    ),
    ApiRoute(
        "GET",
        "/sessions/{session_id}/verdicts/{turn}",
        "readVerdict",
        "Read all about one turn, as Markdown.",
        show_verdict,
        schemas.text(),
        errors=NOT_FOUND,
        streams=("text/markdown",),
    ),
    ApiRoute(
        "GET",
        "/permissions",
        "listPermissions",
        "List the open questions about permissions.",
        list_permissions,
        schemas.answer(permissions=schemas.list_of(schemas.refer("Permission"))),
    ),
    ApiRoute(
        "POST",
        "/permissions/{request_id}",
        "answerPermission",
        "Answer a question about a permission.",
        answer_permission,
        schemas.answer(answered=schemas.flag()),
        body=schemas.body(
            "decision",
            decision=schemas.text(enum=["allow", "deny"]),
            remember=schemas.REMEMBER,
            reason=schemas.text(maxLength=10_000),
        ),
        errors=NOT_FOUND,
    ),
)
"""The routes of sessions."""
