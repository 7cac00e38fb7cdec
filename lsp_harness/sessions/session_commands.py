"""The commands that a client may send while a session is open. A new command is a function and a row in the table."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.events.session_events import ModelChanged
from lsp_harness.kernel.artifacts import MAX_READ_BYTES
from lsp_harness.sessions.model_choice import create_model
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_undo import UndoWish, undo_fields

Frame = Mapping[str, Any]


async def interrupt(opened: OpenSession, frame: Frame) -> Any:
    """Stop the running turn, or only that of the prompt `id`. The session goes on."""
    prompt_id = frame.get("id")
    return {"interrupted": opened.session.requests.interrupt(None if prompt_id is None else str(prompt_id))}


async def steer(opened: OpenSession, frame: Frame) -> Any:
    """Send a text into the running turn, at its next step."""
    return {"item_id": await opened.enqueue("steer", _read_text(frame, "text"))}


async def follow_up(opened: OpenSession, frame: Frame) -> Any:
    """Send a text for the next turn."""
    return {"item_id": await opened.enqueue("follow_up", _read_text(frame, "text"))}


async def edit_queued(opened: OpenSession, frame: Frame) -> Any:
    """Replace a text that waits."""
    await opened.edit_queued(_read_text(frame, "item_id"), _read_text(frame, "text"))


async def remove_queued(opened: OpenSession, frame: Frame) -> Any:
    """Withdraw a text that waits."""
    opened.session.queue.remove(_read_text(frame, "item_id"))


async def answer_permission(opened: OpenSession, frame: Frame) -> Any:
    """Answer a question about a permission. `question_id` names it if `request_id` is the id of the command."""
    question_id = frame.get("question_id") or _read_text(frame, "request_id")
    opened.answer_question(str(question_id), frame)


async def answer_hook(opened: OpenSession, frame: Frame) -> Any:
    """Give what a function of the client returned as a hook (`answer`), or why it failed (`error`)."""
    opened.parts.client_hooks.answer(_read_text(frame, "request_id"), frame)


async def set_permission_mode(opened: OpenSession, frame: Frame) -> Any:
    """Change the permission mode from the next action on."""
    await opened.set_permission_mode(_read_text(frame, "mode"))
    return {"permission_mode": opened.permission_mode}


async def set_model(opened: OpenSession, frame: Frame) -> Any:
    """Use another `model`, or one of another `provider`, from the next model call on."""
    names = {name: _read_text(frame, name) for name in ("model", "provider") if frame.get(name) is not None}
    if not any(names.values()):
        raise UsageError("the command 'set_model' needs the name of a 'model', or a 'provider'")
    await opened.notices.admit_change(**names)
    parts, previous = opened.parts, opened.model
    parts.models[0] = create_model(parts.config, names.get("provider", ""), names.get("model", ""))
    # an answer of the model before may still be on its way, so both are closed with the session
    parts.closers.append(parts.models[0].engine.aclose)
    opened.session.log.append(ModelChanged(opened.model, previous))
    return {"model": opened.model}


async def status(opened: OpenSession, frame: Frame) -> Any:
    """Return the state of the session."""
    return opened.status()


async def context_usage(opened: OpenSession, frame: Frame) -> Any:
    """Return the tokens of the present prompt, as a whole and by section, the window of the model and the budget."""
    if opened.options.driver != "chat":
        raise UsageError(
            "the driver code has no conversation whose size could be measured; `lsp-harness chat` begins one that has"
        )
    return asdict(await opened.create_chat_driver().measure(opened.session.state))


async def mcp_status(opened: OpenSession, frame: Frame) -> Any:
    """Return the MCP servers with their tools, and why one cannot be used."""
    return [asdict(server) | {"tools": list(server.tools)} for server in opened.parts.list_servers()]


async def fork(opened: OpenSession, frame: Frame) -> Any:
    """Begin a session that continues this one after the event `at_seq`."""
    return {"session_id": opened.fork(_read_number(frame, "at_seq"))}


async def undo(opened: OpenSession, frame: Frame) -> Any:
    """Undo the edits of a turn, or take an undo back (`redo`). With `preview`, say what would happen."""
    return undo_fields(await opened.undo(_read_wish(frame), is_confirmed=frame.get("confirmed") is True))


async def list_tasks(opened: OpenSession, frame: Frame) -> Any:
    """Return the tasks of the session."""
    return opened.list_tasks()


async def read_task(opened: OpenSession, frame: Frame) -> Any:
    """Return the output of a task from the byte `since` on."""
    return opened.read_task(_read_text(frame, "task_id"), _read_number(frame, "since") or 0)


async def cancel_task(opened: OpenSession, frame: Frame) -> Any:
    """End a task and all its processes."""
    return await opened.cancel_task(_read_text(frame, "task_id"))


async def read_artifact(opened: OpenSession, frame: Frame) -> Any:
    """Return a large output of a tool, up to a megabyte from the byte `since` on."""
    artifact_id, since = _read_text(frame, "artifact_id"), _read_number(frame, "since") or 0
    part = opened.parts.artifacts.read(artifact_id, since, MAX_READ_BYTES)
    return {"text": part.text, "cursor": part.next_offset, "size": part.size}


Command = Callable[[OpenSession, Frame], Awaitable[Any]]
COMMANDS: dict[str, Command] = {
    "interrupt": interrupt,
    "steer": steer,
    "follow_up": follow_up,
    "edit_queued": edit_queued,
    "remove_queued": remove_queued,
    "permission": answer_permission,
    "hook": answer_hook,
    "set_permission_mode": set_permission_mode,
    "set_model": set_model,
    "status": status,
    "context_usage": context_usage,
    "mcp_status": mcp_status,
    "fork": fork,
    "undo": undo,
    "tasks": list_tasks,
    "read_task": read_task,
    "cancel_task": cancel_task,
    "read_artifact": read_artifact,
}
"""Name of a command → the function that runs it and returns the result for the client."""


def _read_wish(frame: Frame) -> UndoWish:
    paths: Any = frame.get("paths")
    if paths is not None and not (isinstance(paths, list) and all(isinstance(path, str) for path in paths)):  # pyright: ignore[reportUnknownVariableType]
        raise UsageError(f"'paths' must be a list of texts, not {paths!r}")
    return UndoWish(
        turn=_read_number(frame, "turn"),
        paths=None if paths is None else tuple(cast("list[str]", paths)),
        with_commands=frame.get("commands") is True,
        force=frame.get("force") is True,
        is_redo=frame.get("redo") is True,
        is_preview=frame.get("preview") is True,
    )


def _read_text(frame: Frame, name: str) -> str:
    value = frame.get(name)
    if not isinstance(value, str):
        raise UsageError(f"the command {frame.get('command')!r} needs a text {name!r}")
    return value


def _read_number(frame: Frame, name: str) -> int | None:
    value = frame.get(name)
    if value is not None and type(value) is not int:
        raise UsageError(f"{name!r} must be a whole number, not {value!r}")
    return value
