"""Canaries: secrets in the places where users have them must not be in requests to a model, nor in our files.

A harmless text beside them must be there, or these tests could not fail.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from lsp_harness.cli.lsp_client import LspClient, RpcError
from lsp_harness.inference.running_engines import list_engines
from tests.inference.backends.test_remote import make_llama_server
from tests.support.server import Reply, open_server
from tests.support.tiny import decode_tokens

HARMLESS = "harmless_marker"
KEY = "AKIA" + "CANARY0123456789"
PRIVATE = "MIIBCANARYprivatekeyline00"
URL = "canary-url-password"
IN_ENV = "canary-by-file-name"
IGNORED = "canary-in-an-ignored-file"
CANARIES = (KEY, PRIVATE, URL, IN_ENV, IGNORED)

OPEN = f'''import os

def {HARMLESS}(values):
    total = 0
    for value in values:
        total += value
    return total

KEY = "{KEY}"
DSN = "postgres://me:{URL}@db/x"
PEM = """-----BEGIN RSA PRIVATE KEY-----
{PRIVATE}
-----END RSA PRIVATE KEY-----"""

def mean(values):
    total = {HARMLESS}(values)
    return total / undefined_name
'''
PLAIN = (
    f"def {HARMLESS}(values):\n    total = 0\n    for value in values:\n        total += value\n    return total\n\n\n"
    * 3
)
SECRET_FILES = {
    ".env": f"PASSWORD={IN_ENV}\nOTHER=1\n",
    "private/notes.py": f"def notes():\n    word = '{IGNORED}'\n    return word\n",
}
VERBS = ("explain", "docstring", "tests")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "private").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("private/\n")
    for name, text in SECRET_FILES.items():
        (root / name).write_text(text)
    (root / "a.py").write_text(OPEN)
    (root / "plain.py").write_text(PLAIN)
    return root


async def answer_or_refusal(client: LspClient, method: str, params: Any) -> Any:
    """Return the answer, or None if the request is refused."""
    with suppress(RpcError):
        return await client.request(method, params)


async def use_everything(client: LspClient, root: Path) -> None:
    """Use every feature, in and around the places where the secrets are."""
    for name in ("plain.py", "a.py", *SECRET_FILES):
        text = (root / name).read_text()
        uri = client.open(root / name, text, "python" if name.endswith("py") else "plaintext")
        document = {"textDocument": {"uri": uri}}
        lines = text.split("\n")
        for number, line in enumerate(lines):
            position = {"line": number, "character": len(line)}
            client.notify("lspHarness/didMoveCursor", {**document, "position": position})
            for kind in (2, 1):
                await answer_or_refusal(
                    client,
                    "textDocument/inlineCompletion",
                    {**document, "position": position, "context": {"triggerKind": kind}},
                )
        line_range = {
            "start": {"line": len(lines) - 2, "character": 4},
            "end": {"line": len(lines) - 2, "character": 10},
        }
        whole_range = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines) - 1, "character": 0}}
        diagnostic = {
            "range": line_range,
            "message": f"Undefined name near {KEY}",
            "severity": 1,
            "code": "F821",
            "source": "Ruff",
        }
        for lsp_range in (line_range, whole_range):
            context = {"diagnostics": [diagnostic]}
            for action in (
                await answer_or_refusal(
                    client, "textDocument/codeAction", {**document, "range": lsp_range, "context": context}
                )
                or []
            ):
                if "data" in action:
                    await answer_or_refusal(client, "codeAction/resolve", action)
            for verb in VERBS:
                argument = {"uri": uri, "range": lsp_range}
                await answer_or_refusal(
                    client, "workspace/executeCommand", {"command": f"lspHarness.{verb}", "arguments": [argument]}
                )
        await answer_or_refusal(client, "workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})


def find_canaries_in(data: bytes) -> list[str]:
    """Return the secrets that are in these bytes."""
    return [canary for canary in CANARIES if canary.encode() in data or canary.encode("utf-16-le") in data]


async def test_no_secret_is_in_a_request_to_a_model_server(workspace: Path, home: Path):
    server = make_llama_server()
    server.on["POST", "/tokenize"] = _answer_tokenize
    server.on["POST", "/apply-template"] = _answer_template
    async with open_server(server):
        env = {**os.environ, "LSP_HARNESS_HOME": str(home), "LSP_HARNESS_ENGINE__URL": server.url}
        async with LspClient.start(workspace, env=env) as client:
            await use_everything(client, workspace)

    request_texts = repr([request.body for request in server.requests]).encode()
    assert HARMLESS.encode() in request_texts
    assert find_canaries_in(request_texts) == []
    assert [str(file) for file in _find_files(home) if find_canaries_in(file.read_bytes())] == []


async def test_no_secret_is_in_our_files_the_kv_cache_or_the_logs(workspace: Path, home: Path, tiny_model: Path):
    env = {
        **os.environ,
        "LSP_HARNESS_HOME": str(home),
        "LSP_HARNESS_MODEL__PATH": str(tiny_model),
        "LSP_HARNESS_GENERATION__MAX_RETRIES": "1",
    }
    async with LspClient.start(workspace, env=env) as client:
        await use_everything(client, workspace)
    for engine in list_engines():
        process = psutil.Process(engine.pid)
        # the engine writes its cache to disk when it ends
        process.terminate()
        process.wait(30)

    files = list(_find_files(home))
    assert {"events.jsonl"} <= {file.name for file in files}
    assert [str(file) for file in files if find_canaries_in(file.read_bytes())] == []
    saved_texts = [_read_saved_text(file) for file in files if file.suffix == ".kv"]
    assert any(HARMLESS in text for text in saved_texts)
    assert [find_canaries_in(text.encode()) for text in saved_texts if find_canaries_in(text.encode())] == []


def _find_files(home: Path) -> Iterator[Path]:
    return (file for file in home.rglob("*") if file.is_file() and not file.is_symlink())


def _read_saved_text(file: Path) -> str:
    """Return the text of a saved sequence. Its tokens come after the magic number, the version and their count."""
    data = file.read_bytes()
    count = struct.unpack_from("<III", data)[2]
    return decode_tokens(struct.unpack_from(f"<{count}i", data, 12))


def _answer_tokenize(body: Any) -> Reply:
    return Reply(json={"tokens": list(range(len(str(body["content"]).split())))})


def _answer_template(body: Any) -> Reply:
    return Reply(json={"prompt": "".join(request["content"] for request in body["messages"])})
