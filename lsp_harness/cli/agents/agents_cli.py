"""`lsp-harness agents`: start, list, talk with and stop the agents of a running `lsp-harness api`.

The commands about worktrees list, review, apply, undo and discard what agents changed.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.agents.api_client import ApiClient, agent_path
from lsp_harness.cli.console import JsonOption, console, print_json, require_positive, say
from lsp_harness.errors import UsageError

Author = Annotated[str, Parameter(help="The id of the agent, also of one that an earlier server started.")]
LIST_S = 60.0
CHECK_S = 600.0
"""Time for the checks of the changes, which may start the type checkers of the project."""


def worktrees(*, json: JsonOption = False) -> int:
    """List the worktrees of agents, also those that earlier servers left."""
    rows = ApiClient().request("GET", "/worktrees", timeout_s=LIST_S)["worktrees"]
    if json:
        print_json(rows)
    elif not rows:
        say("there is no worktree of an agent")
    else:
        _print_worktrees(rows)
    return 0


def changes(agent: Author, /, *, json: JsonOption = False) -> int:
    """Verify and print what an agent changed in its worktree. Exits 1 if the changes cannot be applied."""
    review = ApiClient().request("POST", agent_path(agent, "changes"), {}, timeout_s=CHECK_S)
    has_changes = bool(review["reviewId"])
    if json:
        print_json(review)
    elif has_changes:
        say("\n".join(filter(None, (review["text"].rstrip(), review["verdict"], *review["findings"]))))
        for path, reason in review["leftOut"].items():
            say(f"left out: {path}: {reason}")
        if review["passed"]:
            say(f"to apply it: lsp-harness agents apply {agent} {review['reviewId']}")
        elif not review["isChecked"] and not review["findings"]:
            say(f"no check can read it; to apply it: lsp-harness agents apply {agent} {review['reviewId']} --unchecked")
    else:
        say("the agent has changed nothing")
    return 0 if review["passed"] or not has_changes else 1


def apply(
    agent: Author,
    review: Annotated[str, Parameter(help="The id of the review that `lsp-harness agents changes` printed.")],
    /,
    *,
    unchecked: Annotated[
        bool, Parameter(negative="", help="Apply changes that no check can read, such as those of a plain text.")
    ] = False,
) -> int:
    """Write reviewed changes of an agent to your folder. The checks must have passed."""
    body = {"reviewId": review, "unchecked": unchecked}
    answer = ApiClient().request("POST", agent_path(agent, "apply"), body, timeout_s=CHECK_S)
    say("\n".join(f"{file['kind']} {file['path']}" for file in answer["files"]))
    return 0


def undo(
    agent: Author,
    /,
    *,
    force: Annotated[bool, Parameter(negative="", help="Also files that somebody changed since.")] = False,
) -> int:
    """Take back the changes of an agent that were applied last."""
    answer = ApiClient().request("POST", agent_path(agent, "undo"), {"force": force}, timeout_s=CHECK_S)
    for path in answer["paths"]:
        say(f"restored {path}")
    for path, reason in answer["skipped"].items():
        say(f"kept {path}: {reason}")
    return 0


def discard(agent: Author, /) -> int:
    """Stop an agent, and remove its worktree and its branch with everything in them."""
    ApiClient().request("POST", agent_path(agent, "discard"), {}, timeout_s=LIST_S)
    return 0


WORKTREE_COMMANDS = (worktrees, changes, apply, undo, discard)
"""The commands, for the app of `lsp-harness agents`."""


def _print_worktrees(rows: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("agent", "name", "state", "changes", "branch", "repository", box=None, padding=(0, 1))
    for row in rows:
        state = "runs" if row["isRunning"] else f"process {row['takenBy']}" if row["takenBy"] else "ended"
        count = row["problem"] or (f"{row['changedFiles']} files" if row["changedFiles"] else "none")
        table.add_row(*map(Text, (row["agentId"], row["name"], state, count, row["branch"], row["repository"])))
    console().print(table)


app = cyclopts.App(name="agents", help="Start, talk with and stop the foreign agents of a running server.")
for command in WORKTREE_COMMANDS:
    app.command(command)

AgentName = Annotated[str, Parameter(help="The id of the agent, or its name.")]
MORE_S = 10.0
"""Time for which a command waits longer than the server, so that the server says what went wrong."""


@Parameter(name="*")
@dataclass(frozen=True)
class SpawnOptions:
    """The options of `lsp-harness agents spawn`."""

    name: Annotated[str, Parameter(help="The name to show.")] = ""
    workdir: Annotated[Path, Parameter(help="The folder in which it works.")] = Path()
    model: Annotated[str, Parameter(help="The model. Some kinds demand one.")] = ""
    terminal: Annotated[bool, Parameter(negative="", help="Run it in a terminal, to attach to it.")] = False
    isolation: Annotated[
        Literal["none", "worktree"], Parameter(help="`worktree` gives it a git worktree of its own.")
    ] = "none"
    runner: Annotated[
        Literal["", "local", "bwrap", "container", "ssh"],
        Parameter(help="Where it runs. Default: `runtime.runner` of the settings."),
    ] = ""
    no_network: Annotated[
        bool, Parameter(negative="", help="Keep it from the network. Only bwrap and container can do that.")
    ] = False
    env: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="The NAME of a variable that the agent gets from here. Its value is not shown."),
    ] = ()


@app.command
def spawn(
    kind: Annotated[str, Parameter(help="claude, codex, gemini, opencode, lsp-harness, shell, echo, or one of yours.")],
    /,
    *args: Annotated[str, Parameter(help="More arguments of the program, after `--`.", allow_leading_hyphen=True)],
    options: Annotated[SpawnOptions | None, Parameter(name="*")] = None,
    json: JsonOption = False,
) -> int:
    """Start an agent."""
    options = options or SpawnOptions()
    body: dict[str, Any] = {"type": kind, "workdir": str(options.workdir.absolute()), "args": list(args)}
    given = ("name", "model", "terminal", "isolation", "runner")
    body |= {key: value for key in given if (value := getattr(options, key))}
    if options.no_network:
        body["network"] = False
    if options.env:
        body["env"] = _read_variables(options.env)
    agent = ApiClient().request("POST", "/agents", body, timeout_s=60)
    if json:
        print_json(agent)
    else:
        say(f"{agent['id']}  {agent['name']}  {agent['status']}")
    return 0


@app.command(name="list")
def list_agents(
    *,
    all: Annotated[bool, Parameter(negative="", help="Also those that have ended.")] = False,
    json: JsonOption = False,
) -> int:
    """List the agents."""
    agents = ApiClient().request("GET", "/agents", timeout_s=MORE_S, ended=int(all))["agents"]
    if json:
        print_json(agents)
    elif not agents:
        say("no agent is running")
    else:
        _print_agents(agents)
    return 0


@app.command
def send(
    agent: AgentName,
    message: Annotated[str, Parameter(help="The message, or - for standard input.")],
    /,
    *,
    timeout: Annotated[int | None, Parameter(help="Milliseconds to wait for the answer.")] = None,
    queue: Annotated[
        bool, Parameter(negative="", help="Wait for the turn of the message if the agent is busy.")
    ] = False,
    force: Annotated[
        bool, Parameter(negative="", help="Send also if the state is not known, or the prompt has an unsent text.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Send an agent a message, and print its answer."""
    body: dict[str, Any] = {"message": sys.stdin.read() if message == "-" else message, "queue": queue, "force": force}
    if timeout is not None:
        body["timeout"] = timeout
    reply = ApiClient().request("POST", agent_path(agent, "send"), body)
    if json:
        print_json(reply)
    else:
        say(reply["response"])
    return 0


@app.command
def logs(
    agent: AgentName,
    /,
    *,
    lines: Annotated[int, Parameter(help="The number of lines.", validator=require_positive)] = 50,
    raw: Annotated[bool, Parameter(negative="", help="Keep the escape sequences.")] = False,
    follow: Annotated[bool, Parameter(negative="", help="Go on until the agent ends.")] = False,
    json: JsonOption = False,
) -> int:
    """Print the last lines of an agent's output."""
    client = ApiClient()
    if follow:
        for chunk in client.stream(agent_path(agent, "stream")):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        return 0
    answer = client.request("GET", agent_path(agent, "logs"), timeout_s=MORE_S, lines=lines, raw=int(raw))
    if json:
        print_json(answer["lines"])
    elif answer["lines"]:
        say("\n".join(answer["lines"]))
    return 0


@app.command
def attach(agent: AgentName, /) -> int:
    """Show the terminal of an agent and type into it. Ctrl-] leaves it, and the agent goes on."""
    from lsp_harness.cli.agents.attached_terminal import attach_terminal

    say(asyncio.run(attach_terminal(ApiClient(), agent)))
    return 0


@app.command
def stop(
    agent: AgentName,
    /,
    *,
    force: Annotated[bool, Parameter(negative="", help="Do not ask the program to end by itself.")] = False,
) -> int:
    """Stop an agent and all its processes."""
    ApiClient().request("DELETE", agent_path(agent), timeout_s=60, force=int(force))
    return 0


@app.command
def questions(agent: AgentName, /, *, json: JsonOption = False) -> int:
    """List the open questions of an agent."""
    rows = ApiClient().request("GET", agent_path(agent, "questions"), timeout_s=MORE_S)["questions"]
    if json:
        print_json(rows)
    for row in rows if not json else ():
        say(f"{row['questionId']}  {row['kind']}")
        say(str(row.get("text") or row["question"]))
        for line in filter(None, (*row["options"], row["loginUrl"])):
            say(f"  {line}")
    return 0


@app.command
def answer(
    agent: AgentName,
    decision: Annotated[Literal["allow", "deny"], Parameter(help="Whether the agent may do what it asks for.")],
    /,
    *,
    question: Annotated[str, Parameter(help="The id of the question. Default: the only open one.")] = "",
    text: Annotated[str, Parameter(help="The answer to a question that is not about a permission.")] = "",
    reason: Annotated[str, Parameter(help="Why. The agent may read it.")] = "",
) -> int:
    """Answer a question of an agent."""
    client = ApiClient()
    if not question:
        rows = client.request("GET", agent_path(agent, "questions"), timeout_s=MORE_S)["questions"]
        if len(rows) != 1:
            raise UsageError(f"the agent has {len(rows)} open questions; name one with --question")
        question = rows[0]["questionId"]
    body = {"decision": decision, "text": text, "reason": reason}
    client.request("POST", agent_path(agent, "questions", question), body, timeout_s=60)
    return 0


@app.command
def explain(agent: AgentName, /) -> int:
    """Show how the state of an agent is known: the claims of the sources, and the rules that were tried."""
    print_json(ApiClient().request("GET", agent_path(agent, "explain"), timeout_s=MORE_S))
    return 0


@app.command
def page() -> int:
    """Print a link that opens the page of the server in a browser. It works once, within a minute."""
    say(ApiClient().request("POST", "/login-links", {}, timeout_s=MORE_S)["url"])
    return 0


def _read_variables(names: Sequence[str]) -> Mapping[str, str]:
    """Return variables of this process. Raise UsageError for one that is not set, or is given with its value."""
    for name in names:
        if "=" in name:
            raise UsageError("other users can read a value in the command line; write only the name of the variable")
        if name not in os.environ:
            raise UsageError(f"the variable {name} is not set here")
    return {name: os.environ[name] for name in names}


def _print_agents(agents: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("id", "name", "type", "status", "folder", box=None, padding=(0, 1))
    for agent in agents:
        status = " ".join(filter(None, (agent["status"], agent["state"]["kind"])))
        table.add_row(*map(Text, (agent["id"], agent["name"], agent["type"], status, agent["workdir"])))
    console().print(table)
