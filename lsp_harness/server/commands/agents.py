"""The commands about the agents of other makers: their life, their messages, their terminals and their worktrees."""

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from lsp_harness.agents.worktree_records import describe_worktree
from lsp_harness.errors import UsageError
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import (
    DEFAULT_COLUMNS,
    DEFAULT_ROWS,
    RUNNER_NAMES,
    AgentSpec,
    Isolation,
    RunnerName,
    TransportName,
)
from lsp_harness.runtime.connection import QuestionAnswer
from lsp_harness.runtime.viewer_sizes import MAX_SIDE
from lsp_harness.server.commands.command_arguments import SessionArguments
from lsp_harness.server.commands.command_registry import command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress
from lsp_harness.server.terminal_views import resize_terminal
from lsp_harness.text.uri import local_path
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.agents.agent_worktrees import AgentWorktrees
    from lsp_harness.agents.change_review import ChangeReview
    from lsp_harness.runtime.agent import Agent

STOP_TIMEOUT_S = 5.0
SHOWN_LINES = 50
TRANSPORTS = ("", "acp", "stream-json", "pty")
RUNNERS = ("", *RUNNER_NAMES)
ISOLATIONS = ("none", "worktree")
MAX_KEY_BYTES = 1_000_000


class AgentArguments(SessionArguments):
    """The only argument of a command about agents: an object.

    Args:
        params: The params of the request.
    """

    @property
    def agent_id(self) -> str:
        """The id of an agent, or its name."""
        return self.text("agentId")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty if it is missing."""
        value = self.value(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[Any]", value)):
            raise UsageError(f"{name} must be a list of strings, not {value!r}")
        return tuple(cast("list[str]", value))

    def size(self, name: str) -> int | None:
        """Return the width or the height of a terminal, or None if it is missing."""
        value = self.number(name)
        if value is not None and not 1 <= value <= MAX_SIDE:
            raise UsageError(f"{name} must be a number from 1 to {MAX_SIDE}, not {value}")
        return value

    def timeout_s(self) -> float | None:
        """Return `timeoutMs` in seconds, or None if it is missing."""
        value = self.number("timeoutMs")
        if value is not None and value <= 0:
            raise UsageError(f"timeoutMs must be more than 0, not {value}")
        return None if value is None else value / 1000

    def bytes(self, name: str) -> bytes:
        """Return bytes that are sent as base64."""
        text = self.text(name)
        if len(text) > MAX_KEY_BYTES:
            raise UsageError(f"{name} is longer than {MAX_KEY_BYTES} characters")
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise UsageError(f"{name} must be base64") from None

    def spec(self, client: EditorClient) -> AgentSpec:
        """Return the description of the agent to start. It works in a folder of the workspace."""
        if self.flag("terminal") and self.word("transport", TRANSPORTS) not in ("", "pty"):
            raise InvalidSpec("an agent in a terminal has the transport pty", "leave transport or terminal out")
        transport = "pty" if self.flag("terminal") else self.word("transport", TRANSPORTS)
        return AgentSpec(
            type=self.text("type"),
            workdir=self._workdir(client),
            name=self.text("name", ""),
            args=self.texts("args"),
            columns=self.size("columns") or DEFAULT_COLUMNS,
            rows=self.size("rows") or DEFAULT_ROWS,
            transport=cast("TransportName", transport),
            permission_mode=self.text("permissionMode", ""),
            runner=cast("RunnerName", self.word("runner", RUNNERS)),
            isolation=cast("Isolation", self.word("isolation", ISOLATIONS)),
            idle_timeout_s=self.seconds("idleTimeoutS", 0.0),
            model=self.text("model", ""),
            network=self.flag("network", default=True),
        )

    def _workdir(self, client: EditorClient) -> Path:
        """Return the folder of an agent: `workdir`, or the workspace folder of `uri`, or the first one."""
        roots = client.harness.workspace.roots
        if not roots:
            raise InvalidSpec("an agent needs a workspace folder", "open a folder in the editor")
        uri, named = self.text("uri", ""), self.text("workdir", "")
        file = local_path(uri) if uri else None
        root = next((root for root in roots if file and file.is_relative_to(root)), roots[0])
        folder = root / named
        # links are resolved, so that none leads out of the workspace
        if not any(folder.resolve().is_relative_to(each.resolve()) for each in roots):
            raise InvalidSpec(f"{folder} is in no folder of the workspace", "open that folder in the editor")
        return folder


def agent_fields(client: EditorClient, agent: "Agent") -> dict[str, Any]:
    """Return an agent with the questions that wait for the user. Those that the permission gate decides do not."""
    # imported late, because nothing of the runtime is loaded before the first agent
    from lsp_harness.runtime.question_desk import GATE_KINDS, question_fields

    asked = client.asked_questions
    questions = [
        question_fields(question)
        for question in agent.open_questions
        if question.kind not in GATE_KINDS or (agent.id, question.id) in asked
    ]
    return {**agent.fields(), "questions": questions}


def review_fields(worktrees: "AgentWorktrees", agent_id: str, review: "ChangeReview") -> dict[str, Any]:
    """Return what an agent changed, with its verdict and the diff."""
    isolated = worktrees.find(agent_id)
    return {**review.fields(isolated.root if isolated else Path()), "text": review.diff}


@command(
    "lspHarness.runtime.types",
    arguments="[]",
    description=(
        "lists the kinds of agents, and what is known of their programs. Each is asked for its version and "
        "its login, without the network"
    ),
    result=(
        "`types`: for each `type`, `transports` (the default first), `program`, `isInstalled`, `version`, "
        "`isRecorded` (whether its screens are known in this version), `auth` (`ok`, `missing`, `unknown` or "
        "`not needed`) and `hint` (what to do)"
    ),
)
async def list_types(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return {"types": await client.agents.probe()}


@command(
    "lspHarness.runtime.list",
    arguments="[{worktrees?}]",
    description=(
        "lists the agents of this server, also those that have ended, the oldest first. With `worktrees` it also lists "
        "all worktrees of agents, also those that earlier servers left: the commands `changes`, `apply`, `undo` and "
        "`discard` take their `agentId`"
    ),
    result=(
        "`agents`: [the agents](#agents); `worktrees`: each with `agentId`, `name`, `branch`, `folder`, `isRunning`, "
        "`takenBy` (another process that is in charge, or null) and `changedFiles`"
    ),
)
async def list_agents(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    agents = client.agents
    answer: dict[str, Any] = {"agents": [agent_fields(client, agent) for agent in agents.list()]}
    if params.arguments and AgentArguments(params).flag("worktrees"):
        running = {agent.id for agent in agents.pool.running}
        records = await agents.changes.worktrees.list_records()
        answer["worktrees"] = [await describe_worktree(record, running) for record in records]
    return answer


@command(
    "lspHarness.runtime.spawn",
    arguments=(
        "[{type, uri?, workdir?, name?, args?, model?, terminal?, transport?, permissionMode?, isolation?, runner?, "
        "network?, columns?, rows?, idleTimeoutS?}]"
    ),
    description=(
        "starts an [agent](agents.md) of a kind in the workspace folder of `uri`, or in its folder `workdir`."
        " `terminal` runs it in a terminal, where its transport would be another one. With `isolation: "
        "worktree` it works in a git worktree of its own. `runner` says where it runs, and `network: false` keeps it"
        " from the network. The permission gate is asked first, and no agent is"
        " started in a workspace that is not trusted"
    ),
    result="[the agent](#agents). An event says when it is ready",
)
async def spawn(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    with show_progress(client, f"Starting {arguments.text('type')}", params.work_done_token):
        agents = client.agents
        # every editor can show a message with buttons
        agents.gate.has_person = True
        agent = await agents.spawn(arguments.spec(client))
    return agent_fields(client, agent)


@command(
    "lspHarness.runtime.stop",
    arguments="[{agentId, force?, timeoutS?}]",
    description=(
        "ends an agent and all processes that it started. It has `timeoutS` (5) to end by itself; `force` "
        "does not ask it. The agent can still be listed and its log be read"
    ),
    result="`left`: the numbers of processes that still run, nearly always none",
)
async def stop(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    agent = client.agents.require(arguments.agent_id)
    timeout_s = arguments.seconds("timeoutS", STOP_TIMEOUT_S)
    return {"left": await agent.stop(force=arguments.flag("force"), timeout_s=timeout_s)}


@command(
    "lspHarness.runtime.send",
    arguments="[{agentId, message, timeoutMs?, queue?, force?}]",
    description=(
        "gives an agent a message and waits for its answer, at most `timeoutMs`. It must be ready. With "
        "`queue`, the message waits until it is, and `force` also sends to an agent whose state is not known or "
        "whose prompt has an unsent text. A request that is cancelled does not stop the agent"
    ),
    result="`sent`, `submitted` (whether the agent was seen to take it), `response` and `queued`",
)
async def send(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    agent = client.agents.require(arguments.agent_id)
    message, timeout_s = arguments.text("message"), arguments.timeout_s()
    reply = await agent.send(message, timeout_s=timeout_s, queue=arguments.flag("queue"), force=arguments.flag("force"))
    return reply.fields


@command(
    "lspHarness.runtime.interrupt",
    arguments="[{agentId}]",
    description="stops the work of an agent on its message. The agent goes on",
    result="null",
)
async def interrupt(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    await client.agents.require(AgentArguments(params).agent_id).interrupt()


@command(
    "lspHarness.runtime.answer",
    arguments="[{agentId, questionId, isAllowed, reason?, text?}]",
    description=(
        "answers a question of an agent. `isAllowed` says whether it may do what it asks for, and `reason` "
        "why not; `text` is the answer to a question in words, or one of its options"
    ),
    result="null",
)
async def answer(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    agent = client.agents.require(arguments.agent_id)
    is_allowed, reason, text = arguments.flag("isAllowed"), arguments.text("reason", ""), arguments.text("text", "")
    await agent.answer(arguments.text("questionId"), QuestionAnswer(is_allowed, reason, text))


@command(
    "lspHarness.runtime.explain",
    arguments="[{agentId}]",
    description="says how the state of an agent is known: what each source claims, and the rules that were tried last",
    result="`state`, `claims` and `rules`",
)
async def explain(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return client.agents.require(AgentArguments(params).agent_id).explain()


@command(
    "lspHarness.runtime.logs",
    arguments="[{agentId, lines?, raw?}]",
    description=(
        "returns the last `lines` (50) of what an agent printed. `raw` keeps the escape sequences of a terminal"
    ),
    result="`lines`",
)
async def logs(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    agent = client.agents.require(arguments.agent_id)
    count = arguments.number("lines")
    return {"lines": agent.read_lines(SHOWN_LINES if count is None else max(0, count), raw=arguments.flag("raw"))}


@command(
    "lspHarness.runtime.attach",
    arguments="[{agentId, columns?, rows?}]",
    description=(
        "begins to show the terminal of an agent, and gives it this size. The bytes are read with "
        "`lspHarness.runtime.read`. Several views of a terminal are possible"
    ),
    result="`viewerId`, `columns` and `rows`",
)
async def attach(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    agent = client.agents.require(arguments.agent_id)
    columns, rows = resize_terminal(agent, arguments.size("columns"), arguments.size("rows"))
    return {"viewerId": client.terminals.attach(agent), "columns": columns, "rows": rows}


@command(
    "lspHarness.runtime.read",
    arguments="[{viewerId}]",
    description=(
        "returns the next piece of the output of a terminal, and waits for it at most 20 s. The first piece "
        "is the screen as it is, with which the editor begins on an empty one. After more output than the "
        "editor read, a piece is the screen again"
    ),
    result=(
        "`data` (base64, may be empty), `isEnd` (the agent has ended, and nothing follows) and `reason` (why it ended)"
    ),
)
async def read(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return await client.terminals.read(AgentArguments(params).text("viewerId"))


@command(
    "lspHarness.runtime.press",
    arguments="[{agentId, keys}]",
    description="types into the terminal of an agent. `keys` are the bytes of a terminal in base64",
    result="null",
)
async def press(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    client.agents.require(arguments.agent_id).press(arguments.bytes("keys"))


@command(
    "lspHarness.runtime.resize",
    arguments="[{agentId, columns, rows}]",
    description="gives the terminal of an agent another size",
    result="`columns` and `rows`",
)
async def resize(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    agent = client.agents.require(arguments.agent_id)
    columns, rows = resize_terminal(agent, arguments.size("columns"), arguments.size("rows"))
    return {"columns": columns, "rows": rows}


@command(
    "lspHarness.runtime.detach",
    arguments="[{viewerId}]",
    description="stops showing a terminal. The agent goes on",
    result="null",
)
async def detach(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    client.terminals.detach(AgentArguments(params).text("viewerId"))


@command(
    "lspHarness.runtime.changes",
    arguments="[{agentId}]",
    description="verifies and shows what an agent changed in its worktree. The files of the user are as before",
    result=(
        "`reviewId` (the hash of the changes), `passed` (no check failed), `standing` (`verified`, `form`, "
        "`incomplete`, `unresolved`, `failed` or `unchecked`), `isChecked` (whether a check could read them), "
        "`verdict` (in words, with each check and why it was skipped), `findings`, `files` (each `path` and `kind`: "
        "`created`, `changed` or `removed`), `leftOut` (path → why it is neither checked nor applied) and `text` "
        "(the diff)"
    ),
)
async def changes(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    author = await client.agents.require_author(AgentArguments(params).agent_id)
    worktrees = client.agents.changes.worktrees
    return review_fields(worktrees, author.id, await worktrees.review(author.id, author.name))


@command(
    "lspHarness.runtime.apply",
    arguments="[{agentId, reviewId, unchecked?}]",
    description=(
        "writes what an agent changed in its worktree into the files of the user, exactly as "
        "`lspHarness.runtime.changes` showed it. No check may have failed. With `unchecked`, "
        "changes that no check can read are applied, too. A checkpoint undoes it"
    ),
    result="`files`, and `text`: what was done, in words",
)
async def apply(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    author = await client.agents.require_author(arguments.agent_id)
    worktrees = client.agents.changes.worktrees
    review = await worktrees.apply(author.id, arguments.text("reviewId"), unchecked=arguments.flag("unchecked"))
    files = review_fields(worktrees, author.id, review)["files"]
    return {"files": files, "text": f"applied {', '.join(file['path'] for file in files)}"}


@command(
    "lspHarness.runtime.undo",
    arguments="[{agentId, force?}]",
    description=(
        "gives the files to which the changes of an agent were applied last the texts that they had before. `force` "
        "restores files that somebody changed since, too"
    ),
    result="`paths`, `skipped` (path → why it is not restored), and `text`: what was done, in words",
)
async def undo(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    author = await client.agents.require_author(arguments.agent_id)
    result = await client.agents.changes.worktrees.undo(author.id, force=arguments.flag("force"))
    kept = "".join(f"; {path} stays: {reason}" for path, reason in result.skipped.items())
    text = f"restored {', '.join(result.paths) or 'nothing'}{kept}"
    return {"paths": list(result.paths), "skipped": dict(result.skipped), "text": text}


@command(
    "lspHarness.runtime.discard",
    arguments="[{agentId}]",
    description="ends an agent and removes its worktree and its branch, with everything that it changed there",
    result="`text`: what was done, in words",
)
async def discard(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    author = await client.agents.require_author(AgentArguments(params).agent_id)
    await author.stop()
    await client.agents.changes.worktrees.discard(author.id)
    return {"text": f"removed the worktree of {author.shown_name}"}
