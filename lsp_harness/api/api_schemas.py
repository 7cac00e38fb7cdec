"""The JSON schemas of what the interface takes and gives. The OpenAPI document refers to them by their names."""

from collections.abc import Mapping
from typing import Any, get_args

from lsp_harness.permission.person import CHOICES
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.runtime.agent_spec import Isolation, RunnerName, TransportName
from lsp_harness.runtime.agent_state import AgentStatus, BlockKind, StateSource

Schema = Mapping[str, Any]


def text(description: str = "", **rules: Any) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", **({"description": description} if description else {}), **rules}


def number(description: str = "", **rules: Any) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", **({"description": description} if description else {}), **rules}


def flag(description: str = "") -> Schema:
    """Return the schema of true or false."""
    return {"type": "boolean", **({"description": description} if description else {})}


def list_of(items: Schema, description: str = "") -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def open_object(description: str = "") -> Schema:
    """Return the schema of an object with any members."""
    return {"type": "object", "additionalProperties": True, **({"description": description} if description else {})}


def body(*required: str, **members: Schema) -> Schema:
    """Return the schema of a body. Members that it does not name are refused, so that a misspelling is noticed."""
    return {"type": "object", "properties": members, "required": list(required), "additionalProperties": False}


def answer(description: str = "", **members: Schema) -> Schema:
    """Return the schema of an object in an answer. Later versions may add members."""
    return {"type": "object", "properties": members, **({"description": description} if description else {})}


def refer(name: str) -> Schema:
    """Return the reference to a named schema."""
    return {"$ref": f"#/components/schemas/{name}"}


NULLABLE_NUMBER: Schema = {"type": ["integer", "null"]}
STATE = answer(
    "The state of an agent, and how it is known.",
    status=text(enum=list(get_args(AgentStatus))),
    source=text("The source that decided.", enum=list(get_args(StateSource))),
    rule=text("The rule of that source."),
    kind=text("What the agent waits for if it is blocked.", enum=list(get_args(BlockKind))),
    message=text("The question of the agent, or why it ended. It is not trusted: show it as text."),
    since={"type": "number", "description": "When the status began, in seconds since 1970."},
)
AGENT = answer(
    "An agent. It has no arguments and no variables of its environment, which may be secret.",
    id=text("Its id. In addresses, its name does too while only one running agent has it."),
    name=text(),
    type=text("The kind: claude, codex, gemini, opencode, lsp-harness, shell, echo, or one of the settings."),
    status=text(enum=list(get_args(AgentStatus))),
    state=refer("State"),
    workdir=text("The folder in which it works."),
    transport=text("How the runtime talks with it.", enum=list(get_args(TransportName))),
    runner=text(enum=list(get_args(RunnerName))),
    network=flag("Whether it may reach the network."),
    isolation=text(enum=list(get_args(Isolation))),
    model=text(),
    cols=number(),
    rows=number(),
    createdAt=text("ISO 8601, UTC."),
    hasTerminal=flag("Whether /screen and the WebSocket of the terminal exist."),
    openQuestions=number("The number of questions that wait for an answer."),
    queue=list_of(open_object(), "The messages that wait for their turn."),
    exitCode={
        **NULLABLE_NUMBER,
        "description": "The exit status, or minus the number of a signal. null while it runs.",
    },
)
AGENT_QUESTION = answer(
    "A question of an agent. Its texts are not trusted: show them as text.",
    questionId=text(),
    text=text("All of the question and of what it is about, in a form that hides nothing."),
    agentId=text(),
    kind=text(enum=list(get_args(BlockKind))),
    question=text("The question in words."),
    tool=text("The tool that the agent wants to use."),
    input=open_object("The input of that tool."),
    options=list_of(text(), "The answers that the agent offers."),
    loginUrl=text("The address of a login."),
    delivery=text("How an answer reaches the agent.", enum=["transport", "hook", "keys"]),
)
AGENT_EVENT = answer(
    "An event of an agent.",
    event=text(enum=list(get_args(EventName))),
    data=open_object(
        "agent_started, agent_ready: {agent}. agent_stopped: {agent, reason}. agent_error: {agent, error}. "
        "login_required: {agent, loginUrl}. message: {message}. question: {agent, question}. Others: see docs/http.md."
    ),
    timestamp=text("ISO 8601, UTC."),
    seq=number("The number of the event, for `since` and `Last-Event-ID`."),
)
REPLY = answer(
    "What became of a message.",
    messageId=text("Its id in the events."),
    sent=flag("Whether it was given to the agent."),
    submitted=flag("Whether the agent was seen to take it."),
    response=text("The answer of the agent, without the message itself."),
    queued=flag("Whether it had to wait for its turn."),
)
SESSION = answer(
    "A saved session.",
    id=text(),
    started_at=text("ISO 8601, UTC."),
    folder=text(),
    driver=text(enum=["chat", "code", ""]),
    model=text(),
    turns=number(),
    events=number("The number of events in its own log."),
    title=text("The first request, shortened."),
    parent=text("The session that it continues, or whose subagent it is."),
    fork_seq={**NULLABLE_NUMBER, "description": "The event of the parent after which it continues."},
    is_open=flag("Whether this server has it open."),
)
SESSION_EVENT = answer(
    "An event of a session, as its log has it. `lsp-harness schema` prints the schemas of `data`. Frames such as "
    "text.delta are sent in streams only and have no number.",
    v=number(),
    id=text(),
    seq={**NULLABLE_NUMBER, "description": "Its number in the session, from 0 without gaps."},
    ts=text("ISO 8601, UTC."),
    session_id=text(),
    turn=NULLABLE_NUMBER,
    step={"type": ["string", "null"]},
    cause={"type": ["string", "null"]},
    type=text(),
    data=open_object(),
)
PERMISSION = answer(
    "A question about a permission that a session asks.",
    session_id=text(),
    request_id=text(),
    tool=text(),
    input=open_object(),
    reason=text(),
    paths=list_of(text()),
    suggestions=list_of(text(), "Rules that would answer such questions from now on."),
    risk=text(enum=["", "low", "medium", "high"]),
    mode=text(),
    text=text("The whole question for a person: all that would happen, why it is asked, and what an answer would add."),
)
TASK = answer(
    "A task of a session.",
    task_id=text(),
    kind=text(),
    title=text(),
    status=text(),
)
TURN_END = answer(
    "The end of a turn.",
    session_id=text(),
    turn=NULLABLE_NUMBER,
    reason=text("Why it ended: completed, cancelled, denied, error, …"),
    detail=text(),
    text=text("The last answer of the model."),
)
HIT = answer(
    "A place in the code of a folder.",
    path=text("Relative to the folder."),
    line=number("From 0 on."),
    symbol=text(),
    kind=text(),
    score={"type": "number"},
    reasons=list_of(text()),
    doc=text("The first line of its documentation."),
)
ERROR = answer(
    error=answer(
        code=text(
            "CLI_NOT_FOUND, AUTH_REQUIRED, SPAWN_FAILED, TIMEOUT, BUSY, BLOCKED, NOT_READY, UNSENT_TEXT, MAX_AGENTS, "
            "NOT_FOUND, INVALID, …"
        ),
        message=text(),
        resolution=text("What the user can do."),
    )
)
NAMED_SCHEMAS: Mapping[str, Schema] = {
    "Agent": AGENT,
    "State": STATE,
    "Question": AGENT_QUESTION,
    "AgentEvent": AGENT_EVENT,
    "Reply": REPLY,
    "Session": SESSION,
    "SessionEvent": SESSION_EVENT,
    "Permission": PERMISSION,
    "Task": TASK,
    "TurnEnd": TURN_END,
    "Hit": HIT,
    "Error": ERROR,
}
"""Name → schema."""
REMEMBER = text("For how long the answer counts.", enum=list(CHOICES[:3]))
