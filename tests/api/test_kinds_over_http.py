"""The kinds of agents over HTTP: which are installed, in which version, and whether they have a login."""

import os
from pathlib import Path

from tests.api.conftest import ApiProcess, StartApi

CLAUDE = """#!/bin/sh
case "$1" in
    --version) echo "2.1.332 (Claude Code)" ;;
    auth) echo '{"loggedIn": false}' ;;
esac
"""


async def test_the_kinds_list_which_agents_are_installed_and_which_are_missing(start_api: StartApi, tmp_path: Path):
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(CLAUDE)
    program.chmod(0o755)
    api = await start_api(PATH=f"{program.parent}:{os.environ['PATH']}")
    async with api.client() as client:
        answer = (await client.get("/runtime/kinds")).json()
    kinds = {kind["type"]: kind for kind in answer["kinds"]}
    assert kinds["claude"] == {
        "type": "claude",
        "transports": ["stream-json", "pty"],
        "program": str(program),
        "isInstalled": True,
        "version": "2.1.332",
        "isRecorded": True,
        "auth": "missing",
        "hint": "run `claude auth login`, or set ANTHROPIC_API_KEY",
    }
    assert (kinds["echo"]["isInstalled"], kinds["echo"]["auth"]) == (True, "not needed")
    assert not kinds["missing"]["isInstalled"]
    assert "no-such-program-anywhere" in kinds["missing"]["hint"]
    runners = {runner["runner"]: runner for runner in answer["runners"]}
    assert runners["local"] == {"runner": "local", "problem": "", "closesNetwork": False}
    assert "ssh_host" in runners["ssh"]["problem"] or "not installed" in runners["ssh"]["problem"]


async def test_a_request_without_a_token_learns_no_kind(api: ApiProcess):
    async with api.client(has_token=False) as client:
        assert (await client.get("/runtime/kinds")).status_code == 401
