"""The tools of foreign agents as actions of the permission gate: the same rules hold for all agents."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.permission.action import Action, ActionKind
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.connection import AgentQuestion

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
        paths = [_absolute(spec.workdir, text) for text in _find_paths(question.input)]
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
    return str(_absolute(workdir, folder)) if folder else str(workdir)


def _find_paths(input: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for key in PATH_KEYS:
        yield from _texts(input.get(key))
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


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list | tuple):
        yield from (item for item in cast("Sequence[object]", value)[:MAX_ITEMS] if isinstance(item, str) and item)


def _absolute(workdir: Path, text: str) -> Path:
    # links and `..` are resolved by the gate
    return workdir / text
