"""The LSP message vectors: 625 messages, good and bad, against one running server.

They are not in the repository. LSP_HARNESS_EVAL_DATA names their directory.
"""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor, encode_id

DATA = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", Path(__file__).parents[3] / "shared/data/dev"))
VECTORS = DATA / "lsp_vectors.jsonl.gz"

pytestmark = pytest.mark.skipif(not VECTORS.exists(), reason=f"{VECTORS} is not there; set LSP_HARNESS_EVAL_DATA")


def read_vectors() -> list[dict[str, Any]]:
    with gzip.open(VECTORS, "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("client", ["vscode", "nvim", "plain"])
async def test_every_request_is_answered_exactly_once(spawn: Spawn, client: str):
    editor = await spawn(client)
    rows = [row for row in read_vectors() if row["method"] not in ("shutdown", "exit")]
    methods: dict[str, str] = {}
    for number, row in enumerate(rows):
        message = dict(row["message"])
        # ids repeat in the file; some "notifications" are invalid because they have one
        if row["kind"] == "request" or "id" in message:
            message["id"] = f"vector-{number}"
            methods[encode_id(message["id"])] = row["method"]
            if "method" not in message:
                editor.request_ids.append(message["id"])
        editor.send(message)

    # this answer shows that the server has read all messages
    await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    await editor.until(
        lambda: (
            len(methods.keys() & {encode_id(m.get("id")) for m in editor.received if "method" not in m}) == len(methods)
        )
    )

    answers = {
        encode_id(m["id"]): m for m in editor.received if "method" not in m and encode_id(m.get("id")) in methods
    }
    assert {answers[id]["error"]["code"] for id, method in methods.items() if method == "initialize"} == {-32600}
    assert not [m for m in editor.received if m.get("method") == "window/showMessage"]
    internal = [methods[id] for id, m in answers.items() if m.get("error", {}).get("code") == -32603]
    assert internal == []
    assert await editor.leave() == 0
    editor.check_answers()
    print(f"{client}: {len(methods)} requests, {len(rows) - len(methods)} notifications, each request answered once")


async def test_shutdown_and_exit_work_in_all_their_forms(spawn: Spawn):
    rows = read_vectors()
    exits = [row["message"] for row in rows if row["method"] == "exit"]
    for row in rows:
        if row["method"] == "shutdown":
            editor = await spawn("plain")
            editor.send(row["message"], *exits)
            assert await editor.ended() == (0 if row["valid"] else 1)
            # initialize, shutdown, and exit, which has an id in the file
            assert len([m for m in editor.received if "method" not in m]) == 3
            editor.request_ids = [m["id"] for m in editor.received if m.get("id") is not None and "method" not in m]


async def test_the_server_with_a_real_engine_answers_the_vectors(home: Path, tiny_model: Path):
    """The real command and harness, and llama.cpp with a tiny random model."""
    env = {**os.environ, "LSP_HARNESS_HOME": str(home), "LSP_HARNESS_MODEL__PATH": str(tiny_model)}
    editor = await Editor.spawn("-m", "lsp_harness", "serve", env=env)
    try:
        await editor.initialize("vscode")
        rows = [row for row in read_vectors() if row["method"] not in ("shutdown", "exit")]
        request_count = 0
        for number, row in enumerate(rows):
            message = dict(row["message"])
            if row["kind"] == "request" or "id" in message:
                message["id"] = f"vector-{number}"
                request_count += 1
                if "method" not in message:
                    editor.request_ids.append(message["id"])
            editor.send(message)
        await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
        await editor.until(
            lambda: (
                sum("method" not in m and str(m.get("id")).startswith("vector-") for m in editor.received)
                == request_count
            )
        )
        assert await editor.leave() == 0
        editor.check_answers()
        print(f"real server: {request_count} requests, each answered once")
    finally:
        await editor.kill()
