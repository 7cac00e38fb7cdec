"""The prompt "add input validation to parse_config" on 200 files with decoys, by the real model, on all surfaces."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.sdk import EditEvent, HarnessClient, StateChange
from tests.coding.test_task_location import workspace
from tests.server.sessions.conftest import command
from tests.server.sessions.test_code_prompts import describe, run_in_terminal
from tests.support import lsp
from tests.support.lsp import Editor, capabilities

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]
LIMIT_S = 400
TASK = "add input validation to parse_config"
SETTINGS = {"LSP_HARNESS_GENERATION__CANDIDATES": "2", "LSP_HARNESS_GENERATION__MAX_RETRIES": "0"}
"""Two candidates with fixed seeds: the most likely text, and one sample."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for path, text in workspace().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    # a turn of the real model takes longer than other requests
    monkeypatch.setattr(lsp, "WAIT", LIMIT_S)
    return root


async def run_in_editor(root: Path) -> list[dict[str, Any]]:
    environment = {**os.environ, "LSP_HARNESS_PERMISSIONS__MODE": "plan"}
    editor = await Editor.spawn("-m", "lsp_harness", "serve", cwd=root, env=environment)
    try:
        folders = [{"uri": root.as_uri(), "name": "project"}]
        await editor.initialize(
            "plain",
            capabilities=capabilities("plain"),
            workspaceFolders=folders,
            initializationOptions={"trusted": True},
        )
        answer = await command(editor, "agent.run", prompt=TASK, driver="code")
        return (await command(editor, "events.since", sessionId=answer["sessionId"]))["events"]
    finally:
        await editor.leave()


async def run_in_program(root: Path) -> tuple[list[str], list[str]]:
    states, diffs = list[str](), list[str]()
    async with HarnessClient(cwd=root, driver="code", permission_mode="plan") as client:
        async for event in await client.send(TASK):
            if isinstance(event, StateChange) and event.status == "exited" and event.outcome:
                states.append(f"[{event.state}] {event.outcome}")
            elif isinstance(event, EditEvent) and event.status == "proposed":
                diffs.append(event.diff)
    return states, diffs


async def test_a_terminal_and_a_program_have_the_same_diff_and_the_editor_the_same_states(project: Path):
    expected = describe(await asyncio.to_thread(run_in_terminal, project, "", TASK, "plan"))
    states, diffs = expected
    assert states[:2] == ["UNDERSTAND ", "[UNDERSTAND] edit"]
    assert "[LOCATE] Found parse_config at src/config.py:34-58" in states
    outcomes, proposed = await run_in_program(project)
    assert proposed == diffs
    assert [line for line in states if line in outcomes] == outcomes
    # the candidates in an editor were others in a run, which docs/plan.md names as a task
    in_editor, _ = describe(await run_in_editor(project))
    until_candidates = states.index("GENERATE Producing 2 candidates...") + 1
    assert in_editor[:until_candidates] == states[:until_candidates]
