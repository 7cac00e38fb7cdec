"""The prompt "add input validation to parse_config" on 200 files with decoys, by the real model, on all surfaces."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.coding.test_task_location import make_workspace_files
from tests.server.sessions.test_code_prompts import ask_in_editor, ask_in_program, describe, run_in_terminal
from tests.support import lsp
from tests.support.server import FakeServer, open_server

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]
LIMIT_S = 400
TASK = "add input validation to parse_config"
SETTINGS = {
    # two candidates with fixed seeds: the most likely text, and one sample
    "LSP_HARNESS_GENERATION__CANDIDATES": "2",
    "LSP_HARNESS_GENERATION__MAX_RETRIES": "0",
    # an answer arrives as a whole
    "LSP_HARNESS_ENGINE__FIRST_TOKEN_SECONDS": str(LIMIT_S),
}


class RepeatingEngine(FakeServer):
    """The real engine at an address. The same request gets the same answer again, without the model.

    The engine itself may answer the same request differently: in this turn, the two most likely tokens of one place
    differ by 0.03 to 0.14 in log probability, and the load of the machine and the history of the KV cache decide which
    one is first. So this shows that the surfaces ask the same, and make the same of what the model answers.

    Args:
        http: The connection to the engine.
    """

    def __init__(self, http: httpx2.AsyncClient) -> None:
        super().__init__()
        self._http = http
        self._answers: dict[str, asyncio.Task[httpx2.Response]] = {}

    @property
    def answer_count(self) -> int:
        """Return the number of different requests for text."""
        return len(self._answers)

    async def answer(self, request: Request) -> Response:
        path, body = request.url.path, await request.body()
        if path == "/cancel":
            # another surface needs the whole answer
            return Response("{}", media_type="application/json")
        if path != "/completion":
            answer = await self._http.request(request.method, path, content=body)
        else:
            # the name of the client is random
            fields: dict[str, Any] = {**json.loads(body), "client": ""}
            key = json.dumps(fields, sort_keys=True)
            if key not in self._answers:
                self._answers[key] = asyncio.ensure_future(self._http.post(path, content=body))
            # a client that has enough must not end the answer
            answer = await asyncio.shield(self._answers[key])
        return Response(answer.content, answer.status_code, media_type=answer.headers["content-type"])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for path, text in make_workspace_files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    # a turn of the real model takes longer than other requests
    monkeypatch.setattr(lsp, "WAIT", LIMIT_S)
    return root


@pytest.fixture
async def engine(project: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RepeatingEngine]:
    argv = [sys.executable, "-m", "lsp_harness", "engine", "start", "--json"]
    started = await asyncio.to_thread(subprocess.run, argv, cwd=project, capture_output=True, text=True, check=True)
    [described] = json.loads(started.stdout)
    transport = httpx2.AsyncHTTPTransport(uds=described["socket"])
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://engine", timeout=LIMIT_S, trust_env=False
    ) as http:
        repeating = RepeatingEngine(http)
        async with open_server(repeating):
            monkeypatch.setenv("LSP_HARNESS_ENGINE__URL", repeating.url)
            yield repeating


def describe_briefly(frames: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the states and the diffs of a turn without the reasons of checks, which differ with the permissions."""
    states, diffs = describe(frames)
    return [cut_reasons(line) for line in states], diffs


def cut_reasons(line: str) -> str:
    """Return a line about a candidate without the list of its checks."""
    return line.partition(" (parse ")[0] if line.startswith("[VERIFY]") else line


async def test_a_terminal_a_program_and_an_editor_have_the_same_events_and_the_same_diff(
    project: Path, engine: RepeatingEngine
):
    in_terminal = describe_briefly(await asyncio.to_thread(run_in_terminal, project, "", TASK, "plan"))
    states, diffs = in_terminal
    assert states[:2] == ["UNDERSTAND ", "[UNDERSTAND] edit"]
    assert "[LOCATE] Found parse_config at src/config.py:34-58" in states
    assert "GENERATE Producing 2 candidates..." in states
    assert engine.answer_count == 2
    assert describe_briefly(await ask_in_editor(project, TASK)) == in_terminal
    lines, proposed = await ask_in_program(project, TASK)
    assert proposed == diffs
    lines = [cut_reasons(line) for line in lines]
    assert lines == [line for line in states if line in lines]
    # no surface asked anything else
    assert engine.answer_count == 2
