"""`lsp-harness tools`: the tools that a model may call here, and a call of one of them."""

import asyncio
import json as json_module
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, make_encodable, print_json, say
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.errors import UsageError
from lsp_harness.sessions.direct_call import CallOutcome, call_tool
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_opening import open_without_model
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.text.visible_text import escape_controls

app = cyclopts.App(name="tools", help="List the tools that a model may call here, or call one of them.")


@app.command(name="list")
def list_(*, flags: SessionFlags | None = None, json: JsonOption = False) -> int:
    """List the tools of a session in the present folder, those of MCP servers too."""
    options = (flags or SessionFlags()).options("cli")
    # a list is no session, so nothing of it is saved
    rows = asyncio.run(_list(replace(options, session_persistence=False)))
    if json:
        print_json(rows)
        return 0
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        say(escape_controls(f"{row['name']:<{width}}  {row['kind']:<8}  {row['description']}"))
    return 0


@app.command
def call(
    name: str,
    input: Annotated[str, Parameter(help="The input as a JSON object. - reads it from standard input.")] = "{}",
    /,
    *,
    flags: SessionFlags | None = None,
    json: JsonOption = False,
) -> int:
    """Call a tool as a model would: through the permission gate, and with a record in a session.

    The exit status is 0 if the call succeeded, and 1 if it failed or was not allowed.
    """
    given = _read_input(sys.stdin.read() if input == "-" else input)
    outcome, session_id = asyncio.run(_call((flags or SessionFlags()).options("cli"), name, given))
    if json:
        print_json({"session_id": session_id, **asdict(outcome)})
    else:
        stream = sys.stderr if outcome.is_error else sys.stdout
        lines = [outcome.output, *outcome.findings]
        stream.write(make_encodable("".join(f"{line}\n" for line in lines if line), stream))
    return int(outcome.is_error)


async def _list(options: SessionOptions) -> list[dict[str, Any]]:
    async with _open_session(options) as opened:
        return [
            {"name": tool.name, "kind": tool.action({}).kind, "description": tool.description, "schema": tool.schema}
            for tool in opened.parts.tools.values()
        ]


async def _call(options: SessionOptions, name: str, given: Mapping[str, Any]) -> tuple[CallOutcome, str]:
    async with _open_session(options) as opened:
        return await call_tool(opened, name, given), opened.session.id


@asynccontextmanager
async def _open_session(options: SessionOptions) -> AsyncGenerator[OpenSession]:
    opened = await open_without_model(options)
    try:
        yield opened
    finally:
        await opened.aclose()


def _read_input(text: str) -> Mapping[str, Any]:
    try:
        given: Any = json_module.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f'the input is not valid JSON: {error}; write an object such as \'{{"path": "a.py"}}\''
        ) from error
    if not isinstance(given, dict):
        raise UsageError('the input must be a JSON object, such as \'{"path": "a.py"}\'')
    return given  # pyright: ignore[reportUnknownVariableType]
