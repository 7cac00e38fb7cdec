"""`lsp-harness run`: one prompt, and its answer on standard output."""

import asyncio
import json as json_module
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from lsp_harness.chat.schema_check import find_mismatch
from lsp_harness.chat.tool_grammar import AnswerForm, build_tool_grammar
from lsp_harness.cli.console import print_json, say, warn
from lsp_harness.cli.file_place import PlaceText
from lsp_harness.cli.sessions.ending_signals import Termination
from lsp_harness.cli.sessions.session_client import SessionClient, SessionNotOpened, run_session
from lsp_harness.cli.sessions.session_flags import PersonFlags, SchemaError, SessionFlags
from lsp_harness.cli.sessions.session_printer import SessionPrinter
from lsp_harness.errors import EngineRefused, UsageError

EXIT_NOT_JSON, EXIT_MISMATCH = 5, 6
"""Exit statuses of an answer that does not fit --json-schema. A local model always fits it, a service may not. 3 and 4
are about models and engines, as those of other commands are."""
OutputFormat = Literal["text", "json", "stream-json"]
OutputOption = Annotated[
    OutputFormat, Parameter(help="text: the answer. json: one object. stream-json: an object for each event.")
]


@dataclass(slots=True)
class RunResult:
    """The result of a prompt.

    Attributes:
        session_id: The id of the session.
        stop: The last frame of the turn.
        usage: The tokens of all model calls.
        error: The last error.
        exit_code: The exit status of the last error.
        is_denied_by_mode: Whether the permission mode did not allow something.
    """

    session_id: str = ""
    stop: dict[str, Any] = field(default_factory=dict[str, Any])
    usage: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOKEN_KEYS, 0))
    error: str = ""
    exit_code: int = 1
    is_denied_by_mode: bool = False

    def add(self, frame: Mapping[str, Any]) -> None:
        """Take over what a frame says."""
        self.session_id = str(frame.get("session_id") or self.session_id)
        match frame.get("type"):
            case "turn_stop":
                self.stop = dict(frame)
            case "cost_update":
                for key in TOKEN_KEYS:
                    self.usage[key] += int(frame.get(key) or 0)
            case "candidate":
                # those of the driver code, which has no messages of a model
                self.usage["input_tokens"] += int(frame.get("evaluated") or 0) + int(frame.get("reused") or 0)
                self.usage["output_tokens"] += int(frame.get("generated") or 0)
                self.usage["cached_tokens"] += int(frame.get("reused") or 0)
            case "hook_decision" if frame.get("by") == "mode" and frame.get("decision") == "deny":
                self.is_denied_by_mode = True
            case "error" if not frame.get("recoverable"):
                self.error = str(frame.get("message"))
                self.exit_code = int(frame.get("exit_code") or 1)
            case _:
                pass


TOKEN_KEYS = ("input_tokens", "output_tokens", "cached_tokens")


def run(
    prompt: Annotated[str, Parameter(help="The prompt. - reads it from standard input.")],
    /,
    *,
    flags: PersonFlags | None = None,
    output_format: OutputOption = "text",
) -> int:
    """Send one prompt, and print the answer.

    It is a question about code, or a checked edit. A model that can use tools has a conversation instead. The answer
    goes to standard output, and what happens meanwhile to standard error. The exit status is 0 if the model finished,
    and 1 if it did not. 2 means wrong arguments, 3 a problem of the model, 4 one of the engine, 5 an answer that is not
    JSON, and 6 one that does not fit --json-schema.
    """
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise UsageError("the prompt is empty; write what to do")
    return asyncio.run(Termination().guard(_run(text, flags or PersonFlags(), output_format)))


def ask(
    prompt: Annotated[str, Parameter(help="The question. - reads it from standard input.")],
    /,
    *,
    flags: PersonFlags | None = None,
    output_format: OutputOption = "text",
) -> int:
    """Ask a question about the code of this folder. Nothing is changed.

    The index, the checks and git answer questions for facts. For others, the lines of code are shown, and then at most
    three sentences of the model.
    """
    flags = flags or PersonFlags()
    flags = replace(flags, driver=flags.driver or "code", only_answers=True)
    return run(prompt, flags=flags, output_format=output_format)


def explain(
    what: Annotated[str, Parameter(help="A name, a file, or lines such as geo.py:10-20.")],
    /,
    *,
    flags: PersonFlags | None = None,
    output_format: OutputOption = "text",
) -> int:
    """Show the code of a name, a file or lines, and what the model says about it.

    The model says at most three sentences, and none with a name that the code does not have.
    """
    is_place = "/" in what or Path(PlaceText.of(what).file).is_file()
    return ask(f"explain {what if is_place else f'`{what}`'}", flags=flags, output_format=output_format)


async def _run(prompt: str, flags: SessionFlags, output_format: OutputFormat) -> int:
    options = flags.options("cli")
    if options.json_schema is not None:
        _require_expressible(options.json_schema)
    result = RunResult()
    printer = SessionPrinter(shows_text=False, is_verbose=flags.debug)

    async def show_frames(client: SessionClient) -> None:
        async for frame in client.frames():
            result.add(frame)
            if output_format == "stream-json":
                # the greeting of the protocol is for clients of `session`; the event of the log says the same
                if frame.get("type") != "ready":
                    say(json_module.dumps(frame, ensure_ascii=False))
            elif output_format == "text":
                if frame.get("type") == "ready" and frame.get("resumed_events"):
                    sys.stderr.write(f"session {frame['session_id']}: {frame['resumed_events']} events loaded\n")
                if frame.get("type") != "error" or frame.get("session_id"):
                    # an error before the session is open is the error of the command
                    printer.show(frame)

    async with run_session(options) as client:
        client.send({"id": "1", "prompt": prompt})
        client.end()
        shown = show_frames(client)
        await (printer.live.run_beside(shown) if output_format == "text" else shown)
    if result.is_denied_by_mode and options.default_mode and not options.permission_mode:
        warn(
            f"standard input is no terminal, so the permission mode is {options.default_mode} unless the settings or "
            "--permission-mode name another"
        )
    return _finish(result, output_format, options.json_schema)


def _require_expressible(schema: Mapping[str, Any]) -> None:
    """Raise SchemaError if no grammar can be made from a schema, before a session begins."""
    try:
        build_tool_grammar((), AnswerForm(answer_schema=schema))
    except EngineRefused as error:
        raise SchemaError(error.message) from error


def _finish(result: RunResult, output_format: OutputFormat, schema: Mapping[str, Any] | None) -> int:
    reason = result.stop.get("reason")
    text = str(result.stop.get("text") or "")
    if output_format == "json":
        print_json(
            {
                "session_id": result.session_id,
                "reason": reason or "error",
                "detail": result.stop.get("detail") or result.error,
                "result": text,
                "structured_output": result.stop.get("structured_output"),
                "usage": result.usage,
            }
        )
    elif output_format == "text" and text:
        say(text)
    if not result.stop:
        raise SessionNotOpened(result.error or "the session ended before it answered", result.exit_code)
    if reason != "completed":
        return 1
    return _check_structure(text, schema) if schema is not None else 0


def _check_structure(text: str, schema: Mapping[str, Any]) -> int:
    """Return the exit status of an answer, and say on standard error why it does not fit."""
    try:
        value = json_module.loads(text)
    except ValueError as error:
        warn(f"the answer is not JSON: {error}")
        return EXIT_NOT_JSON
    if problem := find_mismatch(schema, value):
        warn(f"the answer does not fit the schema: {problem}")
        return EXIT_MISMATCH
    return 0
