"""The permission gate of foreign agents: whether one is started, and its tools as actions of the same rules."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from lsp_harness.permission.action import Action, ActionKind
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.hooks import Hooks
from lsp_harness.permission.permission_gate import PermissionGate, Record
from lsp_harness.permission.person import PermissionQuestion, PersonAnswer, RequestingUser
from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import SpawnDenied
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.connection import AgentQuestion, QuestionAnswer
from lsp_harness.runtime.question_desk import AskingAgent

SPAWN_TOOL = "agent"
"""The tool of rules about agents: `Agent(claude)`."""
COMMAND_KEYS = ("command", "cmd", "commandLine", "script")
PATH_KEYS = (
    *("file_path", "filePath", "notebook_path", "path", "paths", "file", "files", "filename", "absolute_path"),
    *("dir_path", "directory", "destination", "source", "old_path", "new_path", "target_file"),
)
CHANGE_KEYS = ("changes", "fileChanges", "file_changes", "edits", "diffs", "locations")
"""Keys of lists or tables of changed files."""
MAX_ITEMS = 1_000
MAX_DEPTH = 4

TOOLS: Mapping[str, tuple[str, ActionKind]] = {
    **dict.fromkeys(
        ("bash", "shell", "exec", "execute", "command", "commandexecution", "exec_command", "execcommandapproval"),
        ("bash", "execute"),
    ),
    **dict.fromkeys(("run_shell_command", "local_shell", "terminal", "unified_exec"), ("bash", "execute")),
    **dict.fromkeys(("edit", "multiedit", "notebookedit", "replace", "apply_patch", "applypatch"), ("edit", "edit")),
    **dict.fromkeys(("filechange", "applypatchapproval", "patch", "str_replace", "move", "delete"), ("edit", "edit")),
    **dict.fromkeys(("write", "write_file", "create", "save"), ("write", "edit")),
    **dict.fromkeys(("read", "read_file", "read_many_files", "view", "notebookread"), ("read", "read")),
    **dict.fromkeys(("glob", "list", "ls", "list_directory", "find_files"), ("glob", "read")),
    **dict.fromkeys(("grep", "search", "search_file_content", "codesearch"), ("grep", "read")),
    **dict.fromkeys(("webfetch", "fetch", "web_fetch", "websearch", "web_search"), ("webfetch", "network")),
    **dict.fromkeys(("google_web_search",), ("webfetch", "network")),
    # our own agent
    **dict.fromkeys(("replace_symbol_body", "insert_before_symbol", "insert_after_symbol"), ("edit", "edit")),
    **dict.fromkeys(("find_symbol", "symbol_overview", "find_references"), ("grep", "read")),
    **dict.fromkeys(("task", "agent", "subagent"), ("agent", "agent")),
}
"""Name of a tool of a foreign agent, in small letters → the name of our tool, and what it does. An unknown tool is a
command that cannot be seen, so it is never allowed but by a mode that allows everything, or by a person."""


def make_spawn_action(spec: AgentSpec) -> Action:
    """Return the action of starting an agent. Its rules name the type only."""
    return Action(SPAWN_TOOL, "agent", {"type": spec.type}, (spec.workdir,))


def make_question_action(spec: AgentSpec, question: AgentQuestion, agent_id: str) -> Action:
    """Return the action that an agent asks a permission for."""
    if question.kind == "trust":
        # the user trusts the folder already, or the agent would not run
        return Action(
            SPAWN_TOOL, "agent", {"type": spec.type}, (), call_id=question.id, session_id=agent_id, agent_id=agent_id
        )
    name = question.tool.strip()
    if name.startswith("mcp__"):
        return Action(name, "network", question.input, call_id=question.id, session_id=agent_id, agent_id=agent_id)
    tool, kind = TOOLS.get(name.casefold(), (name or "unknown", "execute"))
    paths, command, argv = list[Path](), "", tuple[str, ...]()
    if kind == "execute" and name.casefold() in TOOLS:
        command, argv = _find_command(question.input)
    elif kind in ("edit", "read"):
        paths = [_make_absolute(spec.workdir, text) for text in _find_paths(question.input)]
        if kind == "read" and not paths:
            paths = [spec.workdir]
        if kind == "edit" and not paths:
            # nobody can see which file it is
            tool, kind = name, "execute"
    input = {"text": question.text, **question.input} if kind == "execute" and not (command or argv) else question.input
    if kind == "execute" and (command or argv):
        input = {**input, "cwd": _find_folder(spec.workdir, question.input)}
    return Action(
        tool,
        kind,
        input,
        tuple(dict.fromkeys(paths)),
        command,
        argv,
        call_id=question.id,
        session_id=agent_id,
        agent_id=agent_id,
    )


def _find_command(input: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the command of a shell, or the program and its arguments."""
    for key in COMMAND_KEYS:
        value = input.get(key)
        if isinstance(value, str) and value.strip():
            return value, ()
        if isinstance(value, list | tuple):
            items = cast("Sequence[object]", value)
            if items and all(isinstance(item, str) for item in items):
                return "", tuple(str(item) for item in items)
    return "", ()


def _find_folder(workdir: Path, input: Mapping[str, Any]) -> str:
    folder = next((value for key in ("cwd", "workdir") if isinstance(value := input.get(key), str) and value), "")
    return str(_make_absolute(workdir, folder)) if folder else str(workdir)


def _find_paths(input: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for key in PATH_KEYS:
        yield from _find_texts(input.get(key))
    if depth >= MAX_DEPTH:
        return
    for key in CHANGE_KEYS:
        value = input.get(key)
        if isinstance(value, Mapping):
            changes = cast("Mapping[object, object]", value)
            yield from (str(path) for path in list(changes)[:MAX_ITEMS])
            for change in list(changes.values())[:MAX_ITEMS]:
                if isinstance(change, Mapping):
                    yield from _find_paths(cast("Mapping[str, Any]", change), depth + 1)
        elif isinstance(value, list | tuple):
            for change in cast("Sequence[object]", value)[:MAX_ITEMS]:
                if isinstance(change, Mapping):
                    yield from _find_paths(cast("Mapping[str, Any]", change), depth + 1)


def _find_texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list | tuple):
        yield from (item for item in cast("Sequence[object]", value)[:MAX_ITEMS] if isinstance(item, str) and item)


def _make_absolute(workdir: Path, text: str) -> Path:
    # links and `..` are resolved by the gate
    return workdir / text


PERSON_WAIT_S = 300.0
"""Time for a person to answer. After it nobody is there, and the agent is denied."""
UNTRUSTED = "this workspace is not trusted, so no agent runs in it"


@dataclass(frozen=True, slots=True)
class GateParts:
    """The parts from which the gate of each agent is made.

    Attributes:
        read_policy: Returns the present policy for an agent in a folder.
        create_hooks: Creates the hooks for an agent.
        record: Receives the events of the checks.
        is_trusted: Returns whether the user trusts the workspace.
        wait_s: The time for a person to answer.
    """

    read_policy: Callable[[Path], GatePolicy]
    create_hooks: Callable[[], Hooks]
    record: Record
    is_trusted: Callable[[], bool]
    wait_s: float = PERSON_WAIT_S


@dataclass(eq=False, slots=True)
class _Desk:
    """The questions of one agent to a person."""

    wait_s: float
    has_person: Callable[[], bool]
    waiting: dict[str, asyncio.Future[QuestionAnswer]] = field(
        default_factory=dict[str, "asyncio.Future[QuestionAnswer]"]
    )

    async def ask(self, question: PermissionQuestion) -> PersonAnswer | None:
        """Return the answer of the person, or None if nobody is there."""
        if not self.has_person():
            return None
        future: asyncio.Future[QuestionAnswer] = asyncio.get_running_loop().create_future()
        self.waiting[question.action.call_id] = future
        try:
            async with asyncio.timeout(self.wait_s):
                answer = await future
        except TimeoutError:
            return None
        finally:
            self.waiting.pop(question.action.call_id, None)
        return PersonAnswer("once" if answer.is_allowed else "reject", answer.reason)


class AgentGate:
    """The permission gate of foreign agents. Each agent has a gate of its own, because its questions may wait.

    Attributes:
        has_person: Whether a surface shows the questions to a person. Otherwise what must be asked is denied.

    Args:
        parts: The settings, rules and hooks from which the gate of each agent is made.
    """

    def __init__(self, parts: GateParts) -> None:
        self._parts = parts
        self._gates: dict[str, PermissionGate] = {}
        self._desks: dict[str, _Desk] = {}
        self.has_person = False

    def require_trust(self) -> None:
        """Raise SpawnDenied if the user does not trust the workspace."""
        if not self._parts.is_trusted():
            raise SpawnDenied(UNTRUSTED, "trust the workspace in the editor, and try again")

    async def require_spawn(self, order: LaunchOrder) -> None:
        """Decide whether an agent may be started. The request of the user is the answer of the person.

        Raises:
            SpawnDenied: The workspace is not trusted, or the settings do not allow it.
        """
        self.require_trust()
        policy = self._parts.read_policy(order.spec.workdir)
        person = RequestingUser("the user asked for this agent")
        gate = PermissionGate(policy, self._parts.record, self._parts.create_hooks(), person=person)
        decision = await gate.check(make_spawn_action(order.spec))
        if not decision.is_allowed:
            raise SpawnDenied(f"the agent is not started: {decision.reason}", "change the rules in your settings")

    async def decide(self, agent: AskingAgent, question: AgentQuestion) -> QuestionAnswer:
        """Return the decision about what an agent asks for. Whatever fails denies."""
        if not self._parts.is_trusted():
            return QuestionAnswer(is_allowed=False, reason=UNTRUSTED)
        gate = self._find_gate(agent)
        gate.policy = self._parts.read_policy(agent.spec.workdir)
        decision = await gate.check(make_question_action(agent.spec, question, agent.id))
        if decision.is_allowed and decision.updated_input is not None:
            # no agent takes another input with the answer
            return QuestionAnswer(is_allowed=False, reason="a hook changed the input, which the agent cannot take")
        return QuestionAnswer(decision.is_allowed, decision.reason)

    def answer(self, agent_id: str, question_id: str, answer: QuestionAnswer) -> bool:
        """Give the answer of a person to a question that the gate asks. Return whether it asks this one."""
        desk = self._desks.get(agent_id)
        future = desk.waiting.get(question_id) if desk else None
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True

    def forget(self, agent_id: str) -> None:
        """Forget the gate of an agent that has ended."""
        self._gates.pop(agent_id, None)
        self._desks.pop(agent_id, None)

    def _find_gate(self, agent: AskingAgent) -> PermissionGate:
        if agent.id not in self._gates:
            desk = self._desks[agent.id] = _Desk(self._parts.wait_s, lambda: self.has_person)
            policy, record = self._parts.read_policy(agent.spec.workdir), self._parts.record
            self._gates[agent.id] = PermissionGate(policy, record, self._parts.create_hooks(), person=desk)
        return self._gates[agent.id]
