"""`lsp-harness chat`: a conversation in a terminal, line by line."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsp_harness.cli.console import encodable, escape_controls
from lsp_harness.cli.sessions.ending_signals import Termination
from lsp_harness.cli.sessions.session_client import Frame, SessionClient, SessionNotOpened, as_object, run_session
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.cli.sessions.session_printer import SessionPrinter, shorten_input
from lsp_harness.cli.sessions.undo_question import ask_undo, is_dialog
from lsp_harness.config import paths
from lsp_harness.harness.sessions.session_undo import UndoResult, UndoWish, describe_undo

PROMPT, ANSWER = "you: ", "lsp-harness: "
CODE_ANSWER = " lsp-harness:\n"
"""Stands above the lines about the states of an edit."""
HISTORY_LINES = 1000
HELP = """Write a text to the model. Ctrl-C stops the answer, and Ctrl-D ends the conversation.
/mode MODE    change the permission mode
/undo         undo the edits of the last turn
/redo         take the last undo back
/model MODEL  use another model
/context      show how full the window of the model is
/mcp          show the MCP servers
/status       show the session
/tasks        show the background tasks
/fork         begin another session that continues this one
/exit         end the conversation"""
CHOICES = {"y": "once", "yes": "once", "s": "session", "a": "always"}
"""Text of the user → how long the answer counts. Everything else refuses."""
EDIT_TOOLS = frozenset({"edit", "create"})


def chat(*, flags: SessionFlags | None = None) -> int:
    """Talk with the model in a terminal, in the present folder.

    The model may use tools. Before it changes a file or runs a command, you are asked.
    """
    return converse(flags or SessionFlags())


def converse(flags: SessionFlags) -> int:
    """Talk in a terminal until the person ends it. Return the exit status."""
    history = _load_history()
    try:
        termination = Termination()
        return asyncio.run(termination.guard(Conversation(flags, _read_line, termination).run()))
    finally:
        _save_history(history)


class Conversation:
    """The conversation of a person with a session.

    Args:
        flags: The options of the command.
        read_line: Returns the next line of the person for a prompt, or None at the end.
        termination: Tells whether the process ends.
    """

    def __init__(
        self,
        flags: SessionFlags,
        read_line: Callable[[str], Awaitable[str | None]],
        termination: Termination | None = None,
    ) -> None:
        self._options = flags.options("cli", has_person=True)
        self._read_line = read_line
        self._termination = termination or Termination()
        self._printer = SessionPrinter(sys.stdout, sys.stdout, is_verbose=flags.debug)
        self._number = 0
        self._asks_before_undo = is_dialog()

    async def run(self) -> int:
        """Talk until the person ends it. Return the exit status."""
        async with run_session(self._options) as client:
            frames = client.frames()
            async for frame in frames:
                if frame["type"] == "error":
                    raise SessionNotOpened(str(frame.get("message")), int(frame.get("exit_code") or 1))
                if frame["type"] == "ready":
                    self._greet(frame)
                    if frame.get("unfinished"):
                        await self._follow(client, None)
                    break
            while (line := await self._read_line(PROMPT)) is not None:
                text = line.strip()
                if text in ("/exit", "/quit"):
                    break
                if text.startswith("/"):
                    await self._run_command(client, text)
                elif text:
                    await self._ask(client, text)
        return 0

    def _greet(self, frame: Frame) -> None:
        sys.stdout.write(f"{frame['model']} in {frame['cwd']} · permission mode {frame['permission_mode']} · /help\n")
        if frame.get("resumed_events"):
            sys.stdout.write(f"session {frame['session_id']}: {frame['resumed_events']} events loaded\n")
        if frame.get("unfinished"):
            _write(f"{PROMPT}{frame['unfinished']}")

    async def _ask(self, client: SessionClient, text: str) -> None:
        self._number += 1
        request_id = str(self._number)
        client.send({"id": request_id, "prompt": text})
        await self._follow(client, request_id)

    async def _follow(self, client: SessionClient, request_id: str | None) -> None:
        """Show a turn until its end, and answer its questions. A turn that began by itself has no request."""
        sys.stdout.write(CODE_ANSWER if self._options.driver == "code" else ANSWER)
        sys.stdout.flush()
        while (frame := await self._next_frame(client)) is not None:
            self._printer.show(frame)
            if frame["type"] == "permission_request":
                client.send(await self._decide(frame))
            if frame["type"] == "turn_stop" and frame.get("id") == request_id:
                return

    async def _next_frame(self, client: SessionClient) -> Frame | None:
        try:
            return await client.outgoing.get()
        except asyncio.CancelledError:
            # Ctrl-C stops the answer and not the conversation
            task = asyncio.current_task()
            if task is None or self._termination.is_requested:
                raise
            task.uncancel()
            client.send({"command": "interrupt"})
            return await client.outgoing.get()

    async def _decide(self, frame: Frame) -> Frame:
        """Ask the person about an action, and return the answer for the session."""
        tool, given = str(frame.get("tool")), as_object(frame.get("input"))
        self._printer.end_line()
        if tool in EDIT_TOOLS and self._options.driver == "code":
            # the diff stands above
            question = "Apply? [y/n] "
        elif tool in EDIT_TOOLS:
            _write(f"{tool} {shorten_input(given)}")
            _show_edit(given)
            question = "Apply? [y/n] "
        else:
            _write(f"{tool} {shorten_input(given)}")
            suggestions = ", ".join(frame.get("suggestions") or ())
            remember = f" · s = for this session, a = always ({suggestions})" if suggestions else ""
            question = f"Allow? [y/n{remember}] "
        answer = ((await self._read_line(question)) or "n").strip().casefold()
        remember_for = CHOICES.get(answer)
        reply: dict[str, Any] = {"command": "permission", "request_id": frame["request_id"]}
        if remember_for is None:
            return reply | {"decision": "deny", "reason": "the user said no"}
        return reply | {"decision": "allow", "remember": remember_for}

    async def _run_command(self, client: SessionClient, text: str) -> None:
        name, _, argument = text[1:].partition(" ")
        commands: dict[str, dict[str, Any]] = {
            "mode": {"command": "set_permission_mode", "mode": argument.strip()},
            "model": {"command": "set_model", "model": argument.strip()},
            "context": {"command": "context_usage"},
            "mcp": {"command": "mcp_status"},
            "status": {"command": "status"},
            "tasks": {"command": "tasks"},
            "fork": {"command": "fork"},
        }
        if name in ("undo", "redo"):
            await self._undo(client, UndoWish(is_redo=name == "redo"))
        elif name not in commands:
            sys.stdout.write(f"{HELP}\n")
        elif response := await self._request(client, commands[name] | {"request_id": name}):
            _write(_describe(response))

    async def _request(self, client: SessionClient, frame: Frame) -> Frame | None:
        """Send a command, and return its response. None if the session has ended."""
        client.send(frame)
        while (answer := await client.outgoing.get()) is not None:
            if answer["type"] == "response":
                return answer
        return None

    async def _undo(self, client: SessionClient, wish: UndoWish) -> None:
        """Show what an undo would do, and do what the person wants of it."""

        async def request(wish: UndoWish) -> UndoResult | None:
            frame = {
                "command": "undo",
                "request_id": "undo",
                "paths": None if wish.paths is None else list(wish.paths),
                "commands": wish.with_commands,
                "redo": wish.is_redo,
                "preview": wish.is_preview,
                # the person has asked for it
                "confirmed": True,
            }
            response = await self._request(client, frame)
            if response and response.get("ok"):
                return UndoResult(**as_object(response["result"]))
            if response:
                _write(_describe(response))
            return None

        seen = await request(replace(wish, is_preview=True))
        if seen is None:
            return
        chosen: UndoWish | None = replace(wish, paths=tuple(seen.paths))
        if self._asks_before_undo:
            chosen = await ask_undo(wish, seen, write=_write, read=self._read_line)
        nothing = not seen.paths and not seen.commands
        result = seen if nothing else chosen and await request(chosen)
        if result:
            _write("\n".join(describe_undo(result)))


def _describe(frame: Frame) -> str:
    if not frame.get("ok"):
        return str(as_object(frame.get("error")).get("message"))
    result = frame.get("result")
    if isinstance(result, dict):
        return "\n".join(f"{key}: {value}" for key, value in result.items())  # pyright: ignore[reportUnknownVariableType]
    return "\n".join(str(row) for row in result) if isinstance(result, list) and result else "nothing"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _show_edit(given: Any) -> None:
    for mark, key in (("-", "old"), ("+", "new"), ("+", "text")):
        for line in str(given.get(key) or "").splitlines():
            _write(f"  {mark} {line}")


def _write(text: str) -> None:
    """Print a text that a model or a file may have written, so that it cannot control the terminal."""
    sys.stdout.write(f"{encodable(escape_controls(text), sys.stdout)}\n")


async def _read_line(prompt: str) -> str | None:
    try:
        return await asyncio.to_thread(input, prompt)
    except EOFError:
        sys.stdout.write("\n")
        return None


def _load_history() -> Path | None:
    """Load the lines of earlier conversations. Return their file, or None where there is no line editor."""
    with suppress(ImportError, OSError):
        import readline

        file = paths.state_folder() / "chat_history"
        with suppress(FileNotFoundError):
            readline.read_history_file(file)
        readline.set_history_length(HISTORY_LINES)
        return file
    return None


def _save_history(file: Path | None) -> None:
    if file is None:
        return
    with suppress(ImportError, OSError):
        import readline

        readline.write_history_file(file)
        file.chmod(0o600)
