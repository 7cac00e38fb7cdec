"""The routes of agents: start, talk, look and stop."""

import json
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from sse_starlette.event import ServerSentEvent
from starlette.responses import JSONResponse, PlainTextResponse, Response

from lsp_harness.api import api_schemas as schemas
from lsp_harness.api.api_errors import Conflict, InvalidApiRequest, NotFound
from lsp_harness.api.api_route import ApiCall, ApiRoute, QueryField
from lsp_harness.api.event_streams import open_event_stream, read_last_id, stream_output
from lsp_harness.errors import HarnessError
from lsp_harness.files.folders import resolve_links
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_events import AgentEvent, SlowReader
from lsp_harness.runtime.agent_spec import DEFAULT_COLUMNS, DEFAULT_ROWS, RUNNER_NAMES, AgentSpec
from lsp_harness.runtime.connection import QuestionAnswer
from lsp_harness.runtime.pty_traits import CONTROL_KEYS, KEYS
from lsp_harness.runtime.question_desk import question_fields

MAX_TIMEOUT_MS = 86_400_000
MAX_LINES = 10_000
DEFAULT_LINES = 100
AGENT_ID = re.compile(r"[\w .-]{1,64}", re.ASCII)
NAME = r"a name of letters, digits, blanks and -_. with at most 64 characters"
KEY_BYTES: Mapping[str, bytes] = {**KEYS, **{f"ctrl+{letter}": code for letter, code in CONTROL_KEYS.items()}}
"""Name of a key → what a terminal sends for it."""


def require_agent(call: ApiCall) -> Agent:
    """Return the agent of the address. Raise UnknownAgent or NotFound."""
    agent_id = call.path["agent_id"]
    if not AGENT_ID.fullmatch(agent_id):
        raise NotFound("there is no such agent", "list the agents with GET /agents")
    return call.context.pool.require(agent_id)


def describe(agent: Agent, question_id: str) -> dict[str, Any]:
    """Return an open question of an agent as JSON. Raise NotFound."""
    for question in agent.open_questions:
        if question.id == question_id:
            return {**question_fields(question), "agentId": agent.id}
    raise NotFound("the agent has no such open question", "list them with GET /agents/{id}/questions")


# -- starting and listing
async def spawn_agent(call: ApiCall) -> Any:
    """Start an agent."""
    body = call.body
    name = body.get("name", "")
    if name and not AGENT_ID.fullmatch(name):
        raise InvalidApiRequest(f"name must be {NAME}", "choose another name")
    env = body.get("env", {})
    if any("\0" in key or "=" in key or not key or "\0" in value for key, value in env.items()):
        raise InvalidApiRequest("env has a name or a value that no environment can hold", "remove it")
    terminal, allowed = body.get("terminal"), [resolve_links(root) for root in call.context.pool.limits.allowed_roots]
    spec = AgentSpec(
        type=body["type"],
        workdir=call.context.find_folder(body.get("workdir", "."), allowed),
        name=name,
        args=tuple(body.get("args", ())),
        env=env,
        columns=body.get("cols", DEFAULT_COLUMNS),
        rows=body.get("rows", DEFAULT_ROWS),
        transport="pty" if terminal else body.get("transport", ""),
        permission_mode=body.get("permission_mode", ""),
        runner=body.get("runner", ""),
        isolation=body.get("isolation", "none"),
        idle_timeout_s=body.get("idle_timeout", 0) / 1000,
        model=body.get("model", ""),
        network=body.get("network", True),
    )
    agent = await call.context.agents.spawn(spec)
    return JSONResponse(agent.fields(), 201, {"location": f"/agents/{agent.id}"})


async def list_agents(call: ApiCall) -> Any:
    """Return the agents that fit the filters."""
    wanted = {name: call.query[name] for name in ("status", "type", "name") if call.query[name]}
    agents = [agent for agent in call.context.pool.list() if call.query["ended"] or not agent.has_ended]
    rows = [agent.fields() for agent in agents]
    return {"agents": [row for row in rows if all(row[name] == value for name, value in wanted.items())]}


async def show_agent(call: ApiCall) -> Any:
    """Return one agent."""
    return require_agent(call).fields()


async def stop_agent(call: ApiCall) -> Any:
    """End an agent and all its processes."""
    agent = require_agent(call)
    left = await agent.stop(force=call.query["force"], timeout_s=call.query["timeout"] / 1000)
    if left:
        raise Conflict(f"these processes still run: {', '.join(map(str, left))}", "end them yourself")
    return None


# -- talking
async def send_message(call: ApiCall) -> Any:
    """Give an agent a message, and wait for its answer."""
    agent, body = require_agent(call), call.body
    timeout = body.get("timeout")
    sending = agent.send(
        body["message"],
        timeout_s=None if timeout is None else timeout / 1000,
        queue=body.get("queue", False),
        force=body.get("force", False),
    )
    if call.query["wait"]:
        return (await sending).fields
    # the first step of the task refuses a message that cannot be given, so its error is known at once
    task = call.context.run(_wait_for_refusal(sending))
    await call.context.wait_briefly(task)
    if task.done() and (error := task.result()):
        raise error
    return JSONResponse({"sent": True, "response": None}, 202)


async def _wait_for_refusal(sending: Any) -> HarnessError | None:
    try:
        await sending
    except HarnessError as error:
        return error
    return None


async def press_keys(call: ApiCall) -> Any:
    """Press keys in the terminal of an agent."""
    agent, body = require_agent(call), call.body
    keys = body.get("text", "").encode()
    for name in body.get("keys", ()):
        if name.lower() not in KEY_BYTES:
            raise InvalidApiRequest("there is no such key", f"the keys are {', '.join(KEY_BYTES)}")
        keys += KEY_BYTES[name.lower()]
    try:
        keys += b64decode(body.get("base64", ""), validate=True)
    except (Base64Error, ValueError) as error:
        raise InvalidApiRequest("base64 is not valid", "encode the bytes with base64") from error
    if agent.has_ended or agent.terminal is None:
        raise Conflict("the agent has no running terminal", "start one with terminal: true")
    agent.press(keys)
    return {"pressed": len(keys)}


async def interrupt_agent(call: ApiCall) -> Any:
    """Stop the work on the present message."""
    await require_agent(call).interrupt()
    return {"interrupted": True}


# -- questions
async def list_questions(call: ApiCall) -> Any:
    """Return the open questions of an agent."""
    agent = require_agent(call)
    return {"questions": [{**question_fields(question), "agentId": agent.id} for question in agent.open_questions]}


async def answer_question(call: ApiCall) -> Any:
    """Answer an open question."""
    agent, body = require_agent(call), call.body
    question = describe(agent, call.path["question_id"])
    is_allowed = body.get("decision", "allow") == "allow"
    answer = QuestionAnswer(is_allowed, body.get("reason", ""), body.get("text", ""))
    await agent.answer(question["questionId"], answer)
    return {"answered": True}


# -- looking
async def read_logs(call: ApiCall) -> Any:
    """Return the last lines of the output."""
    count = call.query["lines"] if call.query["lines"] is not None else call.query["tail"]
    lines = require_agent(call).read_lines(DEFAULT_LINES if count is None else count, raw=call.query["raw"])
    if call.accepts("text/plain"):
        return PlainTextResponse("".join(f"{line}\n" for line in lines))
    return {"lines": lines, "logs": "\n".join(lines)}


async def stream_agent(call: ApiCall) -> Response:
    """Stream the output of an agent."""
    return await stream_output(call, require_agent(call))


async def read_screen(call: ApiCall) -> Any:
    """Return the emulated screen of an agent."""
    terminal = require_agent(call).terminal
    if terminal is None:
        raise Conflict("the agent has no terminal", "start one with terminal: true")
    screen = terminal.screen
    rows, (row, column) = screen.rows(), screen.cursor
    if call.accepts("text/plain"):
        return PlainTextResponse("\n".join(rows) + "\n")
    return {
        "rows": rows,
        "cursor": {"row": row, "column": column},
        "title": screen.title,
        "cols": screen.columns,
        "lines": screen.lines,
    }


async def explain_agent(call: ApiCall) -> Any:
    """Return how the state of an agent is known."""
    return require_agent(call).explain()


async def read_events(call: ApiCall) -> Any:
    """Return the remembered events."""
    feed = call.context.pool.feed
    if call.accepts("text/event-stream"):
        since = read_last_id(call)
        following = feed.follow(call.query["since"] if since is None else since, call.query["agentId"])
        return open_event_stream(call.context, _agent_events(following))
    events = feed.read(call.query["since"], call.query["agentId"])
    return {"events": [event.fields for event in events[: call.query["limit"]]], "last": feed.last_seq}


async def _agent_events(events: AsyncGenerator[AgentEvent]) -> AsyncGenerator[ServerSentEvent]:
    try:
        async for event in events:
            yield ServerSentEvent(json.dumps(event.fields), event=event.event, id=str(event.seq))
    except SlowReader:
        yield ServerSentEvent("{}", event="dropped")
    finally:
        await events.aclose()


AGENT, AGENT_QUESTION = schemas.refer("Agent"), schemas.refer("Question")
SPAWN_BODY = schemas.body(
    "type",
    type=schemas.text(
        "The kind of agent. Only the names of configured adapters are valid, never a command.", maxLength=64
    ),
    name=schemas.text(f"The name that users see: {NAME}.", maxLength=64),
    workdir=schemas.text(
        "The folder in which it works. It must lie in a root of the server. Default: the first root.", maxLength=4096
    ),
    args=schemas.list_of(schemas.text(maxLength=4096), "More arguments of the program."),
    env={
        "type": "object",
        "additionalProperties": schemas.text(),
        "description": "More variables. They are kept out of logs and events.",
    },
    cols=schemas.number("The width of the terminal.", minimum=2, maximum=1000),
    rows=schemas.number("The height of the terminal.", minimum=2, maximum=1000),
    terminal=schemas.flag("Run it in a terminal, also if it offers a protocol."),
    transport=schemas.text(
        "How to talk with it. Default: the first one of its kind.", enum=["acp", "stream-json", "pty"]
    ),
    permission_mode=schemas.text(
        "The permission mode of the agent itself. Default: the gate is asked for everything.", maxLength=64
    ),
    runner=schemas.text("Where it runs. Default: runtime.runner of the settings.", enum=[*RUNNER_NAMES]),
    network=schemas.flag("With false it cannot reach the network, which only bwrap and container can do."),
    isolation=schemas.text("`worktree` gives it a git worktree of its own.", enum=["none", "worktree"]),
    idle_timeout=schemas.number(
        "It is stopped after so many milliseconds without work. 0 is never.", minimum=0, maximum=MAX_TIMEOUT_MS
    ),
    model=schemas.text("The model. Some kinds demand one.", maxLength=200),
)
SPAWN_ERRORS = ("CLI_NOT_FOUND", "AUTH_REQUIRED", "SPAWN_FAILED", "MAX_AGENTS", "DENIED", "INVALID")

ROUTES: Sequence[ApiRoute] = (
    ApiRoute(
        "POST",
        "/agents",
        "spawnAgent",
        "Start an agent.",
        spawn_agent,
        AGENT,
        body=SPAWN_BODY,
        status=201,
        description="The answer comes when the program runs. The event agent_ready says when it takes messages.",
        errors=SPAWN_ERRORS,
    ),
    ApiRoute(
        "GET",
        "/agents",
        "listAgents",
        "List the agents.",
        list_agents,
        schemas.answer(agents=schemas.list_of(AGENT)),
        query=(
            QueryField("status", "string", "Only agents with this status."),
            QueryField("type", "string", "Only agents of this kind."),
            QueryField("name", "string", "Only agents with this name."),
            QueryField("ended", "boolean", "Also agents that have ended.", default=True),
        ),
    ),
    ApiRoute("GET", "/agents/{agent_id}", "showAgent", "Show an agent.", show_agent, AGENT, errors=("NOT_FOUND",)),
    ApiRoute(
        "DELETE",
        "/agents/{agent_id}",
        "stopAgent",
        "Stop an agent and all its processes.",
        stop_agent,
        schemas.answer(),
        status=204,
        description="The agent is asked to end, then its processes get TERM, then KILL. It can be read afterwards.",
        query=(
            QueryField("force", "boolean", "Do not ask the program to end by itself.", default=False),
            QueryField("timeout", "integer", "Milliseconds until KILL.", default=5000, maximum=60_000),
        ),
        errors=("NOT_FOUND", "CONFLICT"),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/send",
        "sendMessage",
        "Send a message, and wait for the answer.",
        send_message,
        schemas.refer("Reply"),
        body=schemas.body(
            "message",
            message=schemas.text("The message.", minLength=1, maxLength=1_000_000),
            timeout=schemas.number(
                "Milliseconds to wait for the answer. Default: DEFAULT_TIMEOUT.", minimum=1, maximum=MAX_TIMEOUT_MS
            ),
            queue=schemas.flag("Wait for the turn of the message if the agent is busy. Otherwise: 409 BUSY."),
            force=schemas.flag(
                "Send also if the state is not known, or the prompt has an unsent text. It may answer a dialog."
            ),
        ),
        query=(
            QueryField(
                "wait", "boolean", "With 0, the answer is 202 at once, and the events have the rest.", default=True
            ),
        ),
        errors=("BUSY", "BLOCKED", "NOT_READY", "UNSENT_TEXT", "TIMEOUT", "NOT_FOUND"),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/keys",
        "pressKeys",
        "Press keys in the terminal.",
        press_keys,
        schemas.answer(pressed=schemas.number("Bytes.")),
        body=schemas.body(
            text=schemas.text("Text to type, before the keys.", maxLength=100_000),
            keys=schemas.list_of(schemas.text(maxLength=20), f"Names of keys: {', '.join(KEYS)}."),
            base64=schemas.text("Bytes to type, after the keys.", maxLength=140_000),
        ),
        errors=("NOT_FOUND", "CONFLICT"),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/interrupt",
        "interruptAgent",
        "Stop the work on the present message.",
        interrupt_agent,
        schemas.answer(interrupted=schemas.flag()),
        errors=("NOT_FOUND",),
    ),
    ApiRoute(
        "GET",
        "/agents/{agent_id}/questions",
        "listQuestions",
        "List the open questions of an agent.",
        list_questions,
        schemas.answer(questions=schemas.list_of(AGENT_QUESTION)),
        errors=("NOT_FOUND",),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/questions/{question_id}",
        "answerQuestion",
        "Answer an open question.",
        answer_question,
        schemas.answer(answered=schemas.flag()),
        body=schemas.body(
            decision=schemas.text("Whether the agent may do what it asks for.", enum=["allow", "deny"]),
            reason=schemas.text("Why. The agent reads it where its transport can carry it.", maxLength=10_000),
            text=schemas.text("The answer to a question that is not about a permission.", maxLength=100_000),
        ),
        errors=("NOT_FOUND", "INVALID"),
    ),
    ApiRoute(
        "GET",
        "/agents/{agent_id}/logs",
        "readLogs",
        "Read the last lines of the output.",
        read_logs,
        schemas.answer(lines=schemas.list_of(schemas.text()), logs=schemas.text("The lines as one text.")),
        query=(
            QueryField("lines", "integer", f"The number of lines. Default: {DEFAULT_LINES}.", maximum=MAX_LINES),
            QueryField("tail", "integer", "Another name of `lines`.", maximum=MAX_LINES),
            QueryField("raw", "boolean", "Keep the escape sequences.", default=False),
        ),
        errors=("NOT_FOUND",),
        streams=("text/plain",),
    ),
    ApiRoute(
        "GET",
        "/agents/{agent_id}/stream",
        "streamAgent",
        "Stream the output while it is printed.",
        stream_agent,
        schemas.text(),
        description="Server-sent events `output` with `{text}` and an id for Last-Event-ID. `Accept: text/plain` gives "
        "the plain bytes. The first one (`snapshot`) has what the screen shows, as escape sequences. `end` says that "
        "the agent has ended.",
        errors=("NOT_FOUND", "CONFLICT"),
        streams=("text/event-stream", "text/plain"),
    ),
    ApiRoute(
        "GET",
        "/agents/{agent_id}/screen",
        "readScreen",
        "Read the screen of the terminal.",
        read_screen,
        schemas.answer(
            rows=schemas.list_of(schemas.text()),
            cursor=schemas.answer(row=schemas.number(), column=schemas.number()),
            title=schemas.text(),
            cols=schemas.number(),
            lines=schemas.number(),
        ),
        errors=("NOT_FOUND", "CONFLICT"),
        streams=("text/plain",),
    ),
    ApiRoute(
        "GET",
        "/agents/{agent_id}/explain",
        "explainAgent",
        "Explain how the state of an agent is known.",
        explain_agent,
        schemas.answer(
            state=schemas.refer("State"),
            claims=schemas.list_of(schemas.open_object()),
            rules=schemas.list_of(schemas.open_object()),
        ),
        errors=("NOT_FOUND",),
    ),
    ApiRoute(
        "GET",
        "/events",
        "readEvents",
        "Read the remembered events of agents.",
        read_events,
        schemas.answer(
            events=schemas.list_of(schemas.refer("AgentEvent")), last=schemas.number("The number of the newest event.")
        ),
        query=(
            QueryField("since", "integer", "Only events after this number.", default=0),
            QueryField("agentId", "string", "Only events of this agent.", default=""),
            QueryField("limit", "integer", "The largest number of events.", default=1000, minimum=1, maximum=10_000),
        ),
        streams=("text/event-stream",),
    ),
)
"""The routes of agents."""
