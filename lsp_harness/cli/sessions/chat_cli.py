"""`lsp-harness chat` and `code`: a conversation in a terminal, line by line.

The prompts of `code` are about the code of a project. Each becomes an edit, an answer or a fix.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli.console import make_encodable
from lsp_harness.cli.sessions.ending_signals import Termination
from lsp_harness.cli.sessions.line_reader import LineCancelledError, LineReader, PipedLines
from lsp_harness.cli.sessions.run_cli import run
from lsp_harness.cli.sessions.session_client import Frame, SessionClient, SessionNotOpened, as_object, run_session
from lsp_harness.cli.sessions.session_flags import UNATTENDED_MODE, CodeFlags, PersonFlags, SessionFlags
from lsp_harness.cli.sessions.session_printer import SessionPrinter
from lsp_harness.cli.sessions.terminal_question import TerminalQuestion, write_question
from lsp_harness.cli.sessions.undo_question import ask_undo, is_dialog
from lsp_harness.config import paths
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.extras import need_extra
from lsp_harness.process.signals import handle_signal
from lsp_harness.sessions.session_undo import UndoResult, UndoWish, describe_undo
from lsp_harness.text.visible_text import escape_controls

PROMPT, ANSWER = "you: ", "lsp-harness: "
CODE_ANSWER = " lsp-harness:\n"
"""Stands above the lines about the states of an edit."""
AFTER_QUESTIONS = frozenset({"edit", "error", "text", "turn_stop"})
"""Objects before which a proposed edit was asked about, if it is asked about."""
HELP = """Write a text to the model. Ctrl-C stops the answer or clears the line, and twice ends the conversation, as
Ctrl-D does.
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
NEEDS = (
    "a conversation with tools needs a larger model, a server or a service (docs/models.md); with this model, "
    "lsp-harness code answers questions about code and edits it"
)
RETRY_QUESTION = "What should be different? "
NOTHING = {
    "mcp": "the settings name no MCP server; docs/mcp.md says how to add one",
    "tasks": "no task was started in this session",
}
"""Command → what stands for an empty answer."""
BARE_COMMANDS = frozenset({"exit", "quit", "help", "undo", "redo"})
"""Commands that may be written without their slash."""
STOPPED_BY_CTRL_C = 130
"""Exit status after Ctrl-C, as shells have it."""


class ConversationStoppedError(Exception):
    """The person ended the conversation in the middle of something."""


def chat(*, flags: PersonFlags | None = None) -> int:
    """Talk with the model in a terminal, in the present folder.

    The model may use tools. Before it changes a file or runs a command, you are asked.
    """
    flags = flags or PersonFlags()
    return converse(replace(flags, driver=flags.driver or "chat"))


def converse(flags: SessionFlags, first_prompt: str = "") -> int:
    """Talk in a terminal until the person ends it. Return the exit status.

    Args:
        flags: The options of the session.
        first_prompt: The text that is sent before the person writes. It may be empty.
    """
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    # a person at a terminal whose output is redirected cannot see a question
    has_person = is_terminal or not sys.stdin.isatty()
    lines = _open_terminal() if is_terminal else PipedLines()
    termination = Termination()
    conversation = TerminalConversation(flags, lines, termination, has_person=has_person)
    return asyncio.run(termination.guard(conversation.run(first_prompt)))


def _open_terminal() -> LineReader:
    """Return the reader of the lines of the terminal. Raise ExtraMissing if its package is not installed."""
    # prompt_toolkit takes long to import, and the help of a command does not need it
    with need_extra("tui"):
        from lsp_harness.cli.sessions.terminal_lines import TerminalLines

    return TerminalLines(_history_file())


class TerminalConversation:
    """The conversation of a person with a session.

    Args:
        flags: The options of the command.
        lines: Reads the lines of the person.
        termination: Tells whether the process ends.
        has_person: Whether a person reads the questions and answers them.
    """

    def __init__(
        self,
        flags: SessionFlags,
        lines: LineReader,
        termination: Termination | None = None,
        *,
        has_person: bool = True,
    ) -> None:
        self._options = flags.options("cli", has_person=has_person)
        if not has_person:
            self._options = replace(self._options, default_mode=UNATTENDED_MODE)
        self._lines = lines
        self._termination = termination or Termination()
        self._printer = SessionPrinter(sys.stdout, sys.stdout, is_verbose=flags.debug)
        self._number = 0
        self._client: SessionClient | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_in_turn = self._is_asking = self._is_stopping = self._is_stopped = False
        self._cancelled_lines = 0
        self._held: Frame | None = None
        self._next_prompt = ""
        self._driver = ""
        self._asks_before_undo = is_dialog()

    async def run(self, first_prompt: str = "") -> int:
        """Talk until the person ends it, after a prompt that is sent first. Return the exit status."""
        self._next_prompt = first_prompt.strip()
        self._task, loop = asyncio.current_task(), asyncio.get_running_loop()
        has_handler = signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None)
        if has_handler:
            # that of `asyncio.run` ends the program the second time, whatever the first was for
            handle_signal(loop, signal.SIGINT, self.press_ctrl_c)
        try:
            return await self._run_conversation()
        except ConversationStoppedError:
            return STOPPED_BY_CTRL_C
        except asyncio.CancelledError:
            if not self._is_stopped or self._task is None:
                raise
            self._task.uncancel()
            return STOPPED_BY_CTRL_C
        finally:
            if has_handler:
                loop.remove_signal_handler(signal.SIGINT)

    def press_ctrl_c(self) -> None:
        """Clear the line, else stop the answer, else end the conversation."""
        if self._lines.cancel():
            return
        if self._is_asking and self._cancelled_lines == 0:
            # between two lines of one question
            self._cancelled_lines = 1
        elif self._client is not None and self._is_in_turn and not (self._is_stopping or self._is_asking):
            self._is_stopping = True
            self._client.send({"command": "interrupt"})
        elif self._task is not None:
            self._is_stopped = True
            self._task.cancel()

    async def _run_conversation(self) -> int:
        async with run_session(self._options) as client:
            self._client = client
            frames = client.frames()
            async for frame in frames:
                if frame["type"] == "error":
                    raise SessionNotOpened(str(frame.get("message")), int(frame.get("exit_code") or 1))
                if frame["type"] == "ready":
                    self._greet(frame)
                    if frame.get("unfinished"):
                        await self._follow(client, None)
                    break
            while (line := await self._read_prompt()) is not None:
                text = line.strip()
                if text.casefold() in BARE_COMMANDS:
                    # nobody wants the answer of a model to such a word
                    text = f"/{text.casefold()}"
                if text in ("/exit", "/quit"):
                    break
                if text.startswith("/"):
                    await self._run_command(client, text)
                elif text:
                    await self._ask(client, text)
        return 0

    async def _read_prompt(self) -> str | None:
        """Return the prompt that the answer to a question has made, else the next line of the person."""
        if not self._next_prompt:
            return await self._read(lambda: self._lines.read(PROMPT))
        prompt, self._next_prompt = self._next_prompt, ""
        _write(f"{PROMPT}{prompt}")
        return prompt

    def _greet(self, frame: Frame) -> None:
        _write(f"{frame['model']} in {frame['cwd']} · permission mode {frame['permission_mode']} · /help")
        self._driver = str(frame["driver"])
        abilities = as_object(frame.get("abilities"))
        if abilities:
            _write(f"this model {abilities['sentence']}")
        if abilities and self._driver == "chat" and not abilities["tools"]:
            _write(NEEDS)
        if frame.get("resumed_events"):
            _write(f"session {frame['session_id']}: {frame['resumed_events']} events loaded")
        if frame.get("unfinished"):
            _write(f"{PROMPT}{frame['unfinished']}")

    async def _ask(self, client: SessionClient, text: str) -> None:
        self._number += 1
        request_id = str(self._number)
        client.send({"id": request_id, "prompt": text})
        await self._follow(client, request_id)

    async def _follow(self, client: SessionClient, request_id: str | None) -> None:
        """Show a turn until its end, and answer its questions. A turn that began by itself has no request."""
        sys.stdout.write(CODE_ANSWER if self._driver == "code" else ANSWER)
        sys.stdout.flush()
        self._printer.live.begin()
        await self._printer.live.run_beside(self._show_turn(client, request_id))

    async def _show_turn(self, client: SessionClient, request_id: str | None) -> None:
        self._is_in_turn, self._is_stopping = True, False
        try:
            while (frame := await self._next_frame(client)) is not None:
                self._show(frame)
                if frame["type"] == "permission_request":
                    self._is_asking = True
                    self._printer.live.pause(is_paused=True)
                    client.send(await self._decide(frame))
                    self._printer.live.pause(is_paused=False)
                    self._is_asking = False
                if frame["type"] == "turn_stop" and frame.get("id") == request_id:
                    return
        finally:
            self._is_in_turn = self._is_asking = False

    def _show(self, frame: Frame) -> None:
        """Print a frame. A proposed edit waits: if it is asked about, its diff is a part of the question."""
        held, self._held = self._held, None
        if held is not None and frame["type"] in AFTER_QUESTIONS:
            self._printer.show(held)
        elif held is not None and frame["type"] != "permission_request":
            self._held = held
        if frame["type"] == "edit" and frame.get("status") == "proposed":
            self._held = frame
        else:
            self._printer.show(frame)

    async def _read(self, read: Callable[[], Awaitable[str | None]]) -> str | None:
        """Return the line that a function reads. Ctrl-C begins it again, and twice ends the conversation."""
        while True:
            try:
                line = await read()
            except LineCancelledError:
                self._cancelled_lines += 1
                if self._cancelled_lines > 1:
                    raise ConversationStoppedError from None
                _write("Ctrl-C again ends the conversation")
            else:
                self._cancelled_lines = 0
                return line

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
        """Ask the person about an action, and return the answer for the session. Only an explicit yes allows it."""
        self._printer.end_line()
        question = TerminalQuestion(frame, can_retry=self._driver == "code")
        write_question(question.folded, sys.stdout)
        reply: dict[str, Any] = {"command": "permission", "request_id": frame["request_id"]}
        while (line := await self._read(lambda: self._lines.answer(question.prompt))) is not None:
            match question.read_answer(line):
                case "show":
                    write_question(question.text, sys.stdout)
                case "no":
                    return reply | {"decision": "deny", "reason": "the user said no"}
                case "help":
                    _write(question.help)
                case "retry":
                    if wish := (await self._read(lambda: self._lines.answer(RETRY_QUESTION)) or "").strip():
                        self._next_prompt = f"try again, {wish}"
                        return reply | {"decision": "deny", "reason": f"the user wants another try: {wish}"}
                case "unknown":
                    _write(f"please answer with {question.choices}")
                case remember:
                    return reply | {"decision": "allow", "remember": remember}
        return reply | {"decision": "deny", "reason": "the user closed the question without an answer"}

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
            _write(_describe(response) or NOTHING.get(name, "nothing"))

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
            chosen = await ask_undo(
                wish, seen, write=_write, read=lambda prompt: self._read(lambda: self._lines.answer(prompt))
            )
        nothing = not seen.paths and not seen.commands
        result = seen if nothing else chosen and await request(chosen)
        if result:
            _write("\n".join(describe_undo(result)))


def _describe(frame: Frame) -> str:
    if not frame.get("ok"):
        return str(as_object(frame.get("error")).get("message"))
    result = frame.get("result")
    if isinstance(result, dict):
        shown = {str(key): _describe_value(value) for key, value in as_object(result).items()}
        return "\n".join(f"{key}: {value}" for key, value in shown.items() if value)
    return "\n".join(map(_describe_value, result)) if isinstance(result, list) else ""  # pyright: ignore[reportUnknownArgumentType]


def _describe_value(value: object) -> str:
    """Return a value for a person. It is empty if there is nothing to say."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_describe_value(member)}" for key, member in as_object(value).items())
    if isinstance(value, list):
        return ", ".join(map(_describe_value, value))  # pyright: ignore[reportUnknownArgumentType]
    return {True: "yes", False: "no", None: ""}.get(value, str(value)) if isinstance(value, bool | None) else str(value)


def _write(text: str) -> None:
    """Print a text that a model or a file may have written, so that it cannot control the terminal."""
    sys.stdout.write(f"{make_encodable(escape_controls(text), sys.stdout)}\n")


def _history_file() -> Path | None:
    """Return the file with the lines of earlier conversations, or None if there is no folder for it."""
    try:
        return paths.state_folder() / "chat_history"
    except HarnessError:
        return None


def code(
    prompt: Annotated[
        str,
        Parameter(help="The first prompt. - reads it from standard input. Without a terminal, it is the only one."),
    ] = "",
    /,
    *,
    project: Annotated[
        str, Parameter(help="The folder of the project. The default is the present folder.", show_default=False)
    ] = "",
    flags: CodeFlags | None = None,
) -> int:
    """Change, fix, write and explain the code of a project, in a terminal.

    Say what to do, and where if you know it. You see each step, then the change as a diff, and are asked whether to
    apply it.
    """
    flags = flags or CodeFlags()
    if project and flags.cwd:
        raise UsageError("--project and --cwd mean the same; give one of them")
    flags = replace(flags, driver="code", cwd=project or flags.cwd)
    if prompt and (prompt == "-" or not sys.stdin.isatty()):
        # nobody writes further lines
        return run(prompt, flags=flags)
    return converse(flags, prompt)
