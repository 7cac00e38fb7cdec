"""A cloned project in which everything is a trap. Where the user does not trust it, nothing of it runs.

The programs that run are traced. The same trace of the same project, with trust, shows its programs.
"""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.process.tool_run import find_tool
from tests.support.hostile_workspace import APP, find_canaries, write_hostile_workspace
from tests.support.lsp import Editor, ResponseError, read_capabilities
from tests.support.process_trace import ProcessTrace, find_strace_problem
from tests.support.real_checkers import PROGRAM_VARIABLES

DIAGNOSTIC = {
    "range": {"start": {"line": 0, "character": 7}, "end": {"line": 0, "character": 9}},
    "message": "`os` imported but unused",
    "severity": 2,
    "code": "F401",
    "source": "Ruff",
}
FUNCTION = {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 16}}
ALLOWED = {"python lsp_harness.engine.main"}
"""Our own programs that run beside the server, of our own installation."""
ALLOWED_IN_COMMANDS = {
    "python lsp_harness.index.index_process",
    "bwrap",
    "python landlock_launcher.py",
    "python namespace_launcher.py",
    find_tool("ruff"),
    find_tool("ty"),
    find_tool("git"),
}
"""The programs that a command may start on a folder: our own, the sandbox of ours, and tools that have no plug-ins. git
keeps the texts before an edit, in a repository of ours."""
ANSWER = "```python\ndef double(n):\n    return 2 * n\n```"
NETWORK_COMMANDS = {"lspHarness.pullModel"}
Open = Callable[..., Awaitable[Editor]]


@pytest.fixture
def canaries(tmp_path: Path) -> Path:
    return tmp_path / "canaries"


@pytest.fixture
def workspace(tmp_path: Path, canaries: Path) -> Path:
    root = tmp_path / "clone"
    write_hostile_workspace(root, canaries)
    return root


@pytest.fixture
def trace(tmp_path: Path, workspace: Path) -> ProcessTrace:
    return ProcessTrace(tmp_path / "trace", workspace, has_strace=not find_strace_problem())


@pytest.fixture
async def open_workspace(workspace: Path, home: Path, tiny_model: Path, trace: ProcessTrace) -> AsyncIterator[Open]:
    """Open the project in a traced server with a real engine."""
    editors: list[Editor] = []

    async def start(**options: object) -> Editor:
        environment = {name: value for name, value in os.environ.items() if name not in PROGRAM_VARIABLES}
        environment |= {"LSP_HARNESS_HOME": str(home), "LSP_HARNESS_MODEL__PATH": str(tiny_model), **trace.prepare()}
        command = trace.command("-P", "-m", "lsp_harness", "serve")
        editor = await Editor.spawn(*command, cwd=workspace, env=environment, preload=())
        editors.append(editor)
        known = read_capabilities("vscode")
        known["workspace"]["codeLens"] = {"refreshSupport": True}
        folders = [{"uri": workspace.as_uri(), "name": "clone"}]
        await editor.initialize(capabilities=known, workspaceFolders=folders, initializationOptions=options)
        return editor

    yield start
    for editor in editors:
        await editor.kill()


async def answer(editor: Editor, method: str, params: Any) -> Any:
    """Return the answer to a request, or its error."""
    try:
        return await editor.request(method, params)
    except ResponseError as error:
        return error


async def execute(editor: Editor, command: str, uri: str) -> Any:
    """Execute a command, and allow what it asks for."""
    fields = {
        "uri": uri,
        "range": FUNCTION,
        "instruction": "double it",
        "failing": "FAILED test_app.py::test_double - assert 12 == 8",
        "task": "double",
        "name": "guard",
        "prompt": "run the tests",
        "driver": "code",
        "sessionId": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "text": "go on",
    }
    return await answer(editor, "workspace/executeCommand", {"command": command, "arguments": [fields]})


async def use_everything(editor: Editor, workspace: Path) -> None:
    """Do in the editor what a user can do."""
    uri = (workspace / "app.py").as_uri()
    document = {"textDocument": {"uri": uri}}
    for file, language in (
        ("test_app.py", "python"),
        ("app.ts", "typescript"),
        ("main.go", "go"),
        ("src/main.rs", "rust"),
        ("eslint.config.js", "javascript"),
        ("lsp-harness.toml", "toml"),
    ):
        other = (workspace / file).as_uri()
        editor.open(other, (workspace / file).read_text(), language=language)
        editor.notify("textDocument/didSave", {"textDocument": {"uri": other}})
        await answer(editor, "textDocument/diagnostic", {"textDocument": {"uri": other}})
        await complete(editor, other)
    editor.open(uri, APP)
    await complete(editor, uri)
    end = {"line": 7, "character": 0}
    change = {"range": {"start": end, "end": end}, "text": "value = double(2)\n"}
    editor.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]})
    editor.notify("lspHarness/didFocus", document)
    editor.notify("lspHarness/didMoveCursor", {**document, "position": end})
    editor.notify("textDocument/didSave", document)
    editor.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})
    for place in (DIAGNOSTIC["range"], FUNCTION):
        params = {**document, "range": place, "context": {"diagnostics": [DIAGNOSTIC]}}
        actions = await answer(editor, "textDocument/codeAction", params)
        for action in actions if isinstance(actions, list) else []:
            await answer(editor, "codeAction/resolve", action)
    for method in ("diagnostic", "codeLens", "documentSymbol"):
        await answer(editor, f"textDocument/{method}", document)
    for method in ("definition", "references"):
        position = {"line": 3, "character": 5}
        await answer(editor, f"textDocument/{method}", {**document, "position": position, "context": {}})
    await answer(editor, "workspace/symbol", {"query": "double"})
    [greeting] = [message["result"] for message in editor.received if "capabilities" in (message.get("result") or {})]
    commands: set[str] = set(greeting["capabilities"]["executeCommandProvider"]["commands"])
    assert {"lspHarness.repairTests", "lspHarness.action", "lspHarness.agent.run"} <= commands
    for command in sorted(commands - NETWORK_COMMANDS):
        await execute(editor, command, uri)
    # a session of its own, and not one that does not exist
    begin = {"command": "lspHarness.agent.run", "arguments": [{"prompt": "run the tests", "uri": uri}]}
    await answer(editor, "workspace/executeCommand", begin)


async def request_status(editor: Editor) -> dict[str, Any]:
    return await editor.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})


async def complete(editor: Editor, uri: str) -> None:
    """Ask for a suggestion, and accept it."""
    params = {
        "textDocument": {"uri": uri},
        "position": {"line": 0, "character": 0},
        "context": {"triggerKind": 1},
    }
    found = await answer(editor, "textDocument/inlineCompletion", params)
    for item in found["items"] if isinstance(found, dict) else []:
        await answer(editor, "workspace/executeCommand", item["command"])


def name_programs(runs: list[list[str]]) -> set[str]:
    """Return programs by their names: a module or a file of Python, or the path of another program."""
    return {_name_program(run) for run in runs}


def _name_program(run: list[str]) -> str:
    if run[0] != sys.executable:
        return run[0]
    first = next(index for index, word in enumerate(run) if index and not word.startswith("-"))
    return f"python {run[first] if run[first - 1] == '-m' else Path(run[first]).name}"


async def test_no_program_of_a_workspace_without_trust_runs(
    open_workspace: Open, workspace: Path, canaries: Path, trace: ProcessTrace
):
    editor = await open_workspace(trusted=False)
    await use_everything(editor, workspace)
    assert await editor.leave() == 0
    editor.check_answers()
    assert name_programs(trace.runs()) == ALLOWED
    assert (trace.loads(), find_canaries(canaries)) == ([], [])


async def test_with_trust_the_trace_shows_the_programs_that_run(
    open_workspace: Open, workspace: Path, canaries: Path, trace: ProcessTrace
):
    editor = await open_workspace(trusted=True)
    uri = (workspace / "app.py").as_uri()
    editor.open(uri, APP)
    start = {"line": 0, "character": 0}
    change = {"range": {"start": start, "end": start}, "text": "one = 1\n"}
    editor.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]})
    # the settings of the project let a save be verified, and name a command to run before a program
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    while "preToolUse" not in find_canaries(canaries):
        await request_status(editor)
    assert await editor.leave() == 0
    assert ["/bin/sh", "-c", f"touch {canaries / 'preToolUse'}"] in trace.runs()
    assert "python lsp_harness.index.index_process" in name_programs(trace.runs())


def test_the_trace_shows_code_that_is_loaded(workspace: Path, canaries: Path, trace: ProcessTrace):
    code = f"import sys; sys.path.insert(0, {str(workspace)!r}); import plugin"
    command = [sys.executable, *trace.command("-c", code)]
    subprocess.run(command, env={**os.environ, **trace.prepare()}, check=True)
    assert (trace.runs(), trace.loads()) == ([], [str(workspace / "plugin.py")])
    assert find_canaries(canaries) == ["plugin.py"]


@pytest.mark.skipif(bool(find_strace_problem()), reason=f"only Python is traced: {find_strace_problem()}")
def test_strace_shows_programs_that_other_programs_start(workspace: Path, canaries: Path, trace: ProcessTrace):
    program = workspace / ".venv/bin/ruff"
    command = [
        sys.executable,
        *trace.command("-S", "-c", f"import os; os.execv('/bin/sh', ['sh', '-c', '{program}; :'])"),
    ]
    subprocess.run(command, env={**os.environ, **trace.prepare()}, check=True)
    assert name_programs(trace.runs()) == {"/bin/sh", str(program)}
    assert find_canaries(canaries) == [".venv-bin-ruff"]


@pytest.mark.skipif(not machine_sandbox().is_confined, reason="no sandbox works here")
@pytest.mark.parametrize(
    ("arguments", "typed", "shown"),
    [
        (["fix", "app.py", "--tests", "--apply"], "", "you have not said that you trust"),
        (["action", "guard", "app.py:4", "--apply"], "", "you have not said that you trust"),
        (["code", "--permission-mode", "auto"], "double what double returns\ny\n", "you have not said that you trust"),
        (["run", "--permission-mode", "trust", "double it"], "", "is not trusted"),
        (["run", "--permission-mode", "auto", "--driver", "code", "double it"], "", "is not trusted"),
        (["chat", "--permission-mode", "bypassPermissions"], "run the tests\n/exit\n", "is not trusted"),
        (["doctor"], "", ""),
        (["index", "rebuild"], "", "of them read"),
        (["complete", "app.py:5:5"], "", ""),
        (["context", "app.py:5:5"], "", ""),
        (["locate", "double returns the wrong number"], "", "app.py"),
        (["docs", "pytest.main"], "", ""),
    ],
)
def test_without_trust_no_command_runs_the_tests_or_tools_of_a_folder(
    arguments: list[str], typed: str, shown: str, workspace: Path, canaries: Path, home: Path, tmp_path: Path
):
    # without strace: only the sandbox is seen, and not what runs in it
    trace = ProcessTrace(tmp_path / "trace", workspace, has_strace=False)
    replies = home / "replies.json"
    replies.write_text(json.dumps([{"text": text} for text in (*["edit"][: arguments[0] == "code"], *[ANSWER] * 30)]))
    environment = {name: value for name, value in os.environ.items() if name not in PROGRAM_VARIABLES}
    environment |= {"LSP_HARNESS_HOME": str(home), "LSP_HARNESS_ENGINE__SCRIPT": str(replies), **trace.prepare()}
    command = [sys.executable, "-P", "-m", "lsp_harness", *arguments]
    result = subprocess.run(
        command, cwd=workspace, env=environment, input=typed, capture_output=True, text=True, check=False
    )
    assert shown in result.stdout + result.stderr
    assert name_programs(trace.runs()) <= ALLOWED_IN_COMMANDS
    assert (trace.loads(), find_canaries(canaries)) == ([], [])
