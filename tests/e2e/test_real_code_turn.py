"""The prompt "add input validation to parse_config" on 200 files with decoys, by the real model, on all surfaces."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.coding.test_task_location import workspace
from tests.server.sessions.test_code_prompts import ask_in_editor, ask_in_program, describe, run_in_terminal
from tests.support import lsp

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]
LIMIT_S = 400
TASK = "add input validation to parse_config"
SETTINGS = {
    # two candidates with fixed seeds: the most likely text, and one sample
    "LSP_HARNESS_GENERATION__CANDIDATES": "2",
    "LSP_HARNESS_GENERATION__MAX_RETRIES": "0",
    # Two tokens may be nearly as likely, and a KV cache with another history changes their probabilities a little. So
    # each surface has an engine that evaluated nothing before, and does nothing else.
    "LSP_HARNESS_ENGINE__KV_DISK_MB": "0",
    "LSP_HARNESS_BACKGROUND__WHEN": "never",
}


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


async def stop_engine() -> None:
    """Stop the engine, so that the next surface starts a new one."""
    argv = [sys.executable, "-m", "lsp_harness", "engine", "stop"]
    stopped = await asyncio.to_thread(subprocess.run, argv, capture_output=True, text=True, check=True)
    assert "stopped 1 engine" in stopped.stdout


async def test_a_terminal_a_program_and_an_editor_have_the_same_events_and_the_same_diff(project: Path):
    in_terminal = describe(await asyncio.to_thread(run_in_terminal, project, "", TASK, "plan"))
    states, diffs = in_terminal
    assert states[:2] == ["UNDERSTAND ", "[UNDERSTAND] edit"]
    assert "[LOCATE] Found parse_config at src/config.py:34-58" in states
    assert "GENERATE Producing 2 candidates..." in states
    await stop_engine()
    assert describe(await ask_in_editor(project, TASK)) == in_terminal
    await stop_engine()
    lines, proposed = await ask_in_program(project, TASK)
    assert proposed == diffs
    assert lines == [line for line in states if line in lines]
