"""One engine for all servers: its death during a completion, and fast typing.

The model is tiny and random. The tests are about the processes and their messages, not about suggestions.
"""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from lsp_harness.cli.lsp_client import LspClient, RpcError
from tests.support.rounds import count_rounds

SOURCE = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return "


@pytest.fixture
def env(home: Path, tiny_model: Path) -> dict[str, str]:
    return {**os.environ, "LSP_HARNESS_HOME": str(home), "LSP_HARNESS_MODEL__PATH": str(tiny_model)}


def end_position(text: str) -> dict[str, int]:
    """Return the position of the end of an ASCII text."""
    return {"line": text.count("\n"), "character": len(text) - text.rfind("\n") - 1}


async def read_engine_pid(client: LspClient) -> int:
    status = await client.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})
    return status["engine"]["pid"]


async def test_two_servers_of_two_workspaces_share_one_engine(env: dict[str, str], tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    async with LspClient.start(first, env=env) as first_client, LspClient.start(second, env=env) as second_client:
        for client, folder in ((first_client, first), (second_client, second)):
            uri = client.open(folder / "x.py", SOURCE, "python")
            await client.inline_completion(uri, SOURCE)
        assert await read_engine_pid(first_client) == await read_engine_pid(second_client)
        assert first_client.process.pid != second_client.process.pid


async def test_an_engine_killed_during_a_completion_costs_that_one_request(env: dict[str, str], tmp_path: Path):
    async with LspClient.start(tmp_path, env=env) as client:
        text = SOURCE
        uri = client.open(tmp_path / "x.py", text, "python")
        await client.inline_completion(uri, text)
        for round_number in range(count_rounds(20)):
            # a new text each time, because the answer to an old one is cached
            text = f"# {round_number}\n{text}"
            client.change(uri, text)
            pid = await read_engine_pid(client)
            answer = asyncio.ensure_future(client.inline_completion(uri, text))
            os.kill(pid, signal.SIGKILL)
            [outcome] = await asyncio.gather(answer, return_exceptions=True)
            assert isinstance(outcome, list | RpcError)
            await client.inline_completion(uri, text)
            assert await read_engine_pid(client) != pid


async def test_three_hundred_requests_while_typing_are_all_answered(env: dict[str, str], tmp_path: Path):
    keys = "".join(f"value_{n} = total([{n}, {n + 1}])\n" for n in range(20))[:300]
    async with LspClient.start(tmp_path, env=env) as client:
        text = SOURCE + "result\n\n\n"
        uri = client.open(tmp_path / "x.py", text, "python")
        answers: list[asyncio.Future[object]] = []
        for character in keys:
            end = end_position(text)
            client.edit(uri, {"start": end, "end": end}, character)
            text += character
            params = {"textDocument": {"uri": uri}, "position": end_position(text), "context": {"triggerKind": 2}}
            answers.append(client.begin("textDocument/inlineCompletion", params)[1])
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        assert len(outcomes) == 300
        # a request without a result was superseded
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert all(isinstance(error, RpcError) and error.code in (-32800, -32802) for error in errors)
        assert isinstance(outcomes[-1], dict)
        status = await client.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})
        [document] = status["documents"]
        assert document["bytes"] == len(text.encode())
        assert status["running"] == 0
