"""Real agents of other makers without a login, over HTTP: the error says at once that a login is missing."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.api.conftest import DEADLINE_S, StartApi, wait_for_status
from tests.support.real_agents import FOLDER, AgentRun, require_agent, seed_home

pytestmark = pytest.mark.timeout(120)
AUTH_LIMIT_S = 5.0
"""Time for the error after a message."""
KEYS = ("ANTHROPIC_API_KEY", "CLAUDE_API_KEY", "OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """An environment without credentials, in which the programs of the agents are found."""
    folder = tmp_path / "agent"
    folder.mkdir(mode=0o700)
    run = AgentRun(folder)
    seed_home(run)
    (run.home / ".gemini" / "settings.json").unlink()
    claude = json.loads((run.home / ".claude.json").read_text())
    claude["projects"][str(tmp_path / "work")] = {"hasTrustDialogAccepted": True}
    (run.home / ".claude.json").write_text(json.dumps(claude))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    return {**run.environment, "PATH": f"{FOLDER}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
async def test_an_agent_without_a_login_is_not_started(
    name: str, start_api: StartApi, environment: Mapping[str, str]
) -> None:
    require_agent(name)
    api = await start_api(**environment)
    async with api.client() as client:
        refused = await client.post("/agents", json={"type": name})
    assert refused.status_code == 401, refused.text
    error = refused.json()["error"]
    assert error["code"] == "AUTH_REQUIRED"
    assert error["resolution"]


@pytest.mark.parametrize("name", ["claude", "codex"])
async def test_a_message_to_a_terminal_without_a_login_is_refused_at_once(
    name: str, start_api: StartApi, environment: Mapping[str, str]
) -> None:
    require_agent(name)
    api = await start_api(**environment)
    async with api.client() as client:
        started = await client.post("/agents", json={"type": name, "terminal": True})
        assert started.status_code == 201, started.text
        agent_id = started.json()["id"]
        await wait_for_status(client, agent_id, "authenticating")
        message = {"message": "SAY something"}
        refused = await client.post(f"/agents/{agent_id}/send", json=message, timeout=AUTH_LIMIT_S)
        assert refused.status_code == 401, refused.text
        assert refused.json()["error"]["code"] == "AUTH_REQUIRED"
        # the event follows when the screen shows that a login is missing
        names = list[str]()
        async with asyncio.timeout(DEADLINE_S):
            while "login_required" not in names:
                events = (await client.get("/events", params={"agentId": agent_id})).json()["events"]
                names = [event["event"] for event in events]
        assert (await client.delete(f"/agents/{agent_id}")).status_code == 204
