"""Prompts for the driver `code` in an editor, and the same prompt in a terminal and in a Python program."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.sdk import EditEvent, HarnessClient, StateChange
from lsp_harness.wire.stage_lines import describe_stage
from tests.server.sessions.conftest import EDITED, TEXT, Serve, run_command
from tests.server.sessions.test_unsaved_texts import change
from tests.support.lsp import Editor, read_capabilities
from tests.support.scripted_session import write_script
from tests.support.server import FakeServer, Reply, open_server

TASK = "let add subtract b"
ANSWER = "```python\ndef add(a, b):\n    return a - b\n```"
REPLIES = ("edit", *[ANSWER] * 4)
VERIFIED = (
    "[VERIFY] Candidate 1: form ✓, behaviour not checked (parse ✓, lint ✓, "
    "types – (ty is not installed (pip install ty)), tests – (no program is known that runs the tests for app.py))"
)
LINES = [
    "[UNDERSTAND] edit",
    "[LOCATE] Found add at app.py:1-2",
    "[PLAN] Skipped: one edit; nothing else depends on add",
    "[GENERATE] Producing 4 candidates...",
    VERIFIED,
]
LIMIT_S = 60.0


async def run_in_editor(serve: Serve, **fields: Any) -> "tuple[dict[str, Any], list[dict[str, Any]], list[str]]":
    """Run a prompt in an editor, and return its answer, its frames and the lines of its progress."""
    editor = await serve(*REPLIES, mode="acceptEdits", has_index=True)
    answer = await editor.request(
        "workspace/executeCommand",
        {
            "command": "lspHarness.agent.run",
            "arguments": [{"prompt": TASK, "driver": "code", **fields}],
            "workDoneToken": "work",
        },
    )
    frames = (await run_command(editor, "events.since", sessionId=answer["sessionId"]))["events"]
    values = [message["params"]["value"] for message in editor.received if message.get("method") == "$/progress"]
    lines = [str(value.get("message")) for value in values if value["kind"] == "report"]
    return answer, frames, [line for line in lines if line.startswith("[")]


def describe(frames: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the states and the diffs of a turn, without what differs from one run to the next."""
    states, diffs = list[str](), list[str]()
    for frame in frames:
        if frame["type"] == "state" and frame["status"] == "entered":
            states.append(f"{frame['state']} {frame.get('reason') or ''}")
        elif line := describe_stage(frame):
            states.append(line)
        elif frame["type"] == "edit" and frame["status"] == "proposed":
            diffs.append(frame["diff"])
    return states, diffs


def run_in_terminal(root: Path, provider: str, task: str = TASK, mode: str = "acceptEdits") -> list[dict[str, Any]]:
    argv = [sys.executable, "-m", "lsp_harness", "run", "--driver", "code", *(["-p", provider] if provider else [])]
    argv += ["--output-format", "stream-json", "--permission-mode", mode, task]
    process = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in process.stdout.splitlines()]


async def test_the_editor_the_terminal_and_a_program_have_the_same_events(serve: Serve, root: Path, tmp_path: Path):
    answer, editor_frames, progress = await run_in_editor(serve)
    assert (answer["reason"], (root / "app.py").read_text()) == ("completed", EDITED)
    assert progress == LINES
    expected = describe(editor_frames)

    (root / "app.py").write_text(TEXT)
    terminal_frames = await asyncio.to_thread(run_in_terminal, root, write_script(tmp_path, *REPLIES))
    assert (root / "app.py").read_text() == EDITED
    assert describe(terminal_frames) == expected

    (root / "app.py").write_text(TEXT)
    provider = write_script(tmp_path, *REPLIES)
    outcomes, diffs = list[str](), list[str]()
    async with (
        asyncio.timeout(LIMIT_S),
        HarnessClient(cwd=root, provider=provider, driver="code", permission_mode="acceptEdits") as client,
    ):
        turn = await client.send(TASK)
        async for event in turn:
            if isinstance(event, StateChange) and (text := event.outcome or event.reason):
                outcomes.append(f"[{event.state}] {text}")
            elif isinstance(event, EditEvent) and event.status == "proposed":
                diffs.append(event.diff)
    assert (root / "app.py").read_text() == EDITED
    assert outcomes == LINES[:-1]
    assert diffs == expected[1]


async def ask_in_editor(root: Path, task: str) -> list[dict[str, Any]]:
    """Run a prompt in the server of an editor that only plans edits, and return the frames of the turn."""
    environment = {**os.environ, "LSP_HARNESS_PERMISSIONS__MODE": "plan"}
    editor = await Editor.spawn("-m", "lsp_harness", "serve", cwd=root, env=environment)
    try:
        folders = [{"uri": root.as_uri(), "name": root.name}]
        await editor.initialize(
            "plain",
            capabilities=read_capabilities("plain"),
            workspaceFolders=folders,
            initializationOptions={"trusted": True},
        )
        answer = await run_command(editor, "agent.run", prompt=task, driver="code")
        return (await run_command(editor, "events.since", sessionId=answer["sessionId"]))["events"]
    finally:
        await editor.leave()


async def ask_in_program(root: Path, task: str) -> tuple[list[str], list[str]]:
    """Run a prompt in a Python program that only plans edits, and return the lines of the turn and the diffs."""
    lines, diffs = list[str](), list[str]()
    async with HarnessClient(cwd=root, driver="code", permission_mode="plan") as client:
        async for event in await client.send(task):
            if isinstance(event, StateChange) and event.status == "exited" and event.outcome:
                lines.append(f"[{event.state}] {event.outcome}")
            elif isinstance(event, EditEvent) and event.status == "proposed":
                diffs.append(event.diff)
    return lines, diffs


def create_engine() -> FakeServer:
    """Return an engine of ours on another machine, whose second candidate is complete before the first."""
    server = FakeServer()
    settings = {"default_generation_settings": {"n_ctx": 8192}, "fim_order": "suffix-first", "pid": 7}
    server.on["GET", "/props"] = Reply(json=settings | {"model_alias": "some", "features": {"embedding": False}})
    server.on["GET", "/health"] = Reply(json={"status": "ok"})
    server.on["POST", "/tokenize"] = lambda body: Reply(
        json={"counts": [len(text.split()) for text in body["content"]]}
    )
    server.on["POST", "/apply-template"] = lambda body: Reply(json={"prompt": json.dumps(body["messages"])})

    def complete(body: dict[str, Any]) -> Reply:
        texts = [ANSWER.replace("-", sign) for sign in "-*"] if body["n_cmpl"] == 2 else ["edit"]
        events = [{"content": text, "index": index} for index, text in enumerate(texts)]
        ends = [{"content": "", "stop": True, "stop_type": "eos", "index": index} for index in range(len(texts))]
        return Reply([*events, *reversed(ends)])

    server.on["POST", "/completion"] = complete
    return server


async def test_the_editor_the_terminal_and_a_program_ask_the_model_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "2")
    requests, events = list[list[dict[str, Any]]](), list[tuple[list[str], list[str]]]()

    async with open_server(create_engine()) as server, asyncio.timeout(LIMIT_S):
        monkeypatch.setenv("LSP_HARNESS_ENGINE__URL", server.url)

        def record(states: list[str], diffs: list[str]) -> None:
            events.append((states, diffs))
            # the name of the process is random
            requests.append([{**body, "client": ""} for body in server.bodies("/completion")])
            server.requests.clear()

        record(*describe(await ask_in_editor(root, TASK)))
        record(*describe(await asyncio.to_thread(run_in_terminal, root, "", TASK, "plan")))
        record(*await ask_in_program(root, TASK))

    assert requests[0] == requests[1] == requests[2]
    understand, generate = requests[0]
    assert understand["n_cmpl"] == 1
    # one request, so that all candidates begin in the same step
    assert (generate["n_cmpl"], generate["greedy_first"], generate["temperature"]) == (2, True, 0.6)
    in_editor, in_terminal, (lines, diffs) = events
    assert in_editor == in_terminal
    assert diffs == in_editor[1]
    assert lines == [line for line in in_editor[0] if line in lines]
    # the likelier candidate is checked first, although the other one was complete before it
    assert [line for line in in_editor[0] if "Candidate" in line] == [
        VERIFIED,
    ]
    assert "+    return a - b" in diffs[0]


async def test_an_unsaved_text_is_changed_by_the_editor(serve: Serve, root: Path):
    editor = await serve(*REPLIES, mode="acceptEdits", has_index=True)
    uri = (root / "app.py").as_uri()
    unsaved = "X = 1\n\n\n" + TEXT

    def apply(params: Any) -> dict[str, Any]:
        change(editor, uri, 3, unsaved.replace("a + b", "a - b"))
        return {"applied": True}

    editor.replies["workspace/applyEdit"] = apply
    editor.open(uri, TEXT)
    change(editor, uri, 2, unsaved)
    answer = await run_command(editor, "agent.run", prompt=TASK, driver="code")
    assert answer["text"].startswith("app.py:4-5: "), answer
    assert answer["text"].endswith("; applied")
    assert (root / "app.py").read_text() == TEXT
    # a saved session keeps its driver
    await run_command(editor, "session.close", sessionId=answer["sessionId"])
    shown = await run_command(editor, "agent.run", prompt="hm, that is odd", sessionId=answer["sessionId"])
    assert "the script has 5 replies" in shown["detail"]
    assert "You sort what a programmer" in shown["detail"]


async def test_an_unknown_driver_is_refused(serve: Serve):
    editor = await serve()
    id = editor.ask(
        "workspace/executeCommand", {"command": "lspHarness.agent.run", "arguments": [{"prompt": "x", "driver": "car"}]}
    )
    answer = await editor.find(lambda message: message.get("id") == id and "method" not in message)
    assert "takes driver as one of chat, code" in answer["error"]["message"]
