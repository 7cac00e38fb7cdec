"""The output of `doctor` and `models` about remote servers, which never contains a key."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lsp_harness.cli.doctor.doctor_installation import is_private
from lsp_harness.inference.backends import fleet
from lsp_harness.inference.target import Target
from tests.cli.conftest import Shell

PROPS = '{"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2, "model_alias": "%s"}'


class FakeLlamaServer(BaseHTTPRequestHandler):
    """A llama-server that answers `/props` to clients with the key."""

    model = "some"

    def do_GET(self) -> None:
        good = self.headers["Authorization"] == "Bearer sk-secret" and self.path == "/props"
        self.send_response(200 if good else 401)
        self.end_headers()
        self.wfile.write((PROPS % self.model).encode() if good else b'{"error": {"message": "Invalid API Key"}}')

    def log_message(self, format: str, *args: object) -> None:
        pass


class FakeModelHub(FakeLlamaServer):
    """A server that lists models as OpenAI does, after one answer that it is too busy."""

    asked = 0

    def do_GET(self) -> None:
        FakeModelHub.asked += 1
        status = 429 if FakeModelHub.asked == 1 else 200 if self.headers["Authorization"] == "Bearer sk-secret" else 401
        rows = ["qwen2.5-coder-7b", "gpt-oss"] if self.path == "/v1/models" else []
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps({"data": [{"id": row, "owned_by": "me"} for row in rows]}).encode())


class ListingLlamaServer(FakeLlamaServer):
    """A llama-server that lists its model without a key."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write((PROPS % "some").encode() if self.path == "/props" else b'{"data": [{"id": "some"}]}')


class FakeAnthropicServer(FakeLlamaServer):
    """A server that lists models to clients which send the key as Anthropic requires."""

    def do_GET(self) -> None:
        good = self.headers["x-api-key"] == "sk-secret" and self.path == "/v1/models?limit=1000"
        self.send_response(200 if good else 401)
        self.end_headers()
        self.wfile.write(b'{"data": [{"id": "claude-b"}, {"id": "claude-a"}]}')


class Other(FakeLlamaServer):
    model = "other"


@contextmanager
def serve_in_thread(kind: type[FakeLlamaServer]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def llama_server_url() -> Iterator[str]:
    with serve_in_thread(FakeLlamaServer) as url:
        yield url


def find_rows_about(shell: Shell, what: str) -> list[tuple[str, str]]:
    rows = shell.run("doctor", "--json").json
    assert "sk-secret" not in str(rows)
    return [(row["state"], row["says"]) for row in rows if row["what"] == what]


def test_doctor_lists_a_server_with_its_missing_abilities(shell: Shell, llama_server_url: str) -> None:
    shell.set("LSP_HARNESS_ENGINE__URL", llama_server_url)
    shell.set("LSP_HARNESS_API_KEY", "sk-secret")

    assert find_rows_about(shell, "server") == [
        ("ok", f"{llama_server_url}: llama-server, some, key from LSP_HARNESS_API_KEY")
    ]
    [(state, missing)] = find_rows_about(shell, "missing")
    assert (state, missing) == (
        "note",
        "shorter, tools, greedy_first, expected, cancel, persist, priority (docs/team.md says what is done instead)",
    )
    [(_, limited)] = find_rows_about(shell, "limited")
    assert "n: up to 2, its slots (--parallel)" in limited
    assert find_rows_about(shell, "engine") == [("ok", "not used: the settings name a remote server")]
    assert find_rows_about(shell, "model") == find_rows_about(shell, "key") == []


def test_doctor_reports_a_server_that_refuses_and_a_server_that_is_down(shell: Shell, llama_server_url: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    shell.set("LSP_HARNESS_ENGINE__URL", f"{llama_server_url},{nobody}")
    shell.set("LSP_HARNESS_API_KEY", "wrong")

    assert find_rows_about(shell, "server") == [
        (
            "bad",
            (
                f"{llama_server_url} refuses the key in LSP_HARNESS_API_KEY; put the right one into the environment "
                "variable that engine.api_key_env names"
            ),
        ),
        ("bad", f"{nobody} cannot be reached or closed the connection; check that it runs"),
    ]
    assert shell.run("doctor").code == 1


def test_servers_that_are_no_replicas(shell: Shell, llama_server_url: str) -> None:
    shell.set("LSP_HARNESS_API_KEY", "sk-secret")
    with serve_in_thread(Other) as second:
        shell.set("LSP_HARNESS_ENGINE__URL", f"{llama_server_url},{second}")
        assert find_rows_about(shell, "servers") == [
            ("note", "they serve different models (other, some), but several servers must serve the same one")
        ]


@pytest.mark.parametrize(
    ("target", "nobody_reads"),
    [
        (Target(socket="/run/s"), True),
        (Target(base="https://host"), True),
        (Target(base="http://localhost:1"), True),
        (Target(base="http://127.0.0.2:1"), True),
        (Target(base="http://[::1]:1"), True),
        (Target(base="http://10.0.0.1:1"), False),
        (Target(base="http://gpu-1:1"), False),
    ],
)
def test_a_key_that_is_sent_without_encryption_is_reported(target: Target, nobody_reads: bool) -> None:
    assert is_private(target) == nobody_reads


def test_a_missing_key_is_one_line_and_no_request_is_sent(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LSP_HARNESS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    shell.set("LSP_HARNESS_ENGINE__MODEL", "openai/gpt-3.5-turbo-instruct")
    shell.file("a.py", "def area(r):\n    return \n")
    line = "https://api.openai.com needs a key; set OPENAI_API_KEY or LSP_HARNESS_API_KEY in the environment"

    assert find_rows_about(shell, "server") == [("bad", line)]
    assert shell.run("complete", "a.py:2:12") == (1, "", f"lsp-harness: {line}\n")


def test_an_invalid_url_is_one_line(shell: Shell) -> None:
    shell.set("LSP_HARNESS_ENGINE__URL", "gpu-1:8080")
    shell.file("a.py", "def area(r):\n    return \n")

    result = shell.run("complete", "a.py:2:12")

    assert (result.code, result.out) == (2, "")
    assert (
        result.err
        == "lsp-harness: engine.url 'gpu-1:8080' must be http://host:port, https://host, or a Unix socket path\n"
    )


# -- models
@pytest.fixture
def hub_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(FakeModelHub, "asked", 0)
    monkeypatch.setattr(fleet, "FIRST_RETRY_WAIT_S", 0.0)
    with serve_in_thread(FakeModelHub) as url:
        yield url


def test_the_models_of_a_provider_are_listed(shell: Shell, hub_url: str) -> None:
    shell.set("OPENROUTER_API_KEY", "sk-secret")
    result = shell.run("models", "--provider", "openrouter", "--base-url", f"{hub_url}/v1", "--json")

    assert result.json == [
        {"name": "gpt-oss", "owner": "me", "infill": ""},
        {"name": "qwen2.5-coder-7b", "owner": "me", "infill": "by the tokens of qwen2.5-coder"},
    ]
    assert FakeModelHub.asked == 2, "a service that was busy is asked again"
    table = shell.run("models", "--provider", "openrouter", "--base-url", hub_url)
    assert table.code == 0
    assert [line.split()[0] for line in table.out.splitlines()] == ["model", "gpt-oss", "qwen2.5-coder-7b"]
    assert "sk-secret" not in table.out


def test_models_lists_the_models_of_the_servers_in_the_settings(shell: Shell, hub_url: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        shell.set("LSP_HARNESS_ENGINE__URL", f"http://127.0.0.1:{free.getsockname()[1]},{hub_url}")
    shell.set("LSP_HARNESS_API_KEY", "sk-secret")

    assert len(shell.run("models", "--json").json) == 2, "one replica that answers is enough"


def test_the_general_key_is_used_if_no_server_is_set(shell: Shell, hub_url: str) -> None:
    shell.set("LSP_HARNESS_API_KEY", "sk-secret")

    assert len(shell.run("models", "--provider", "vllm", "--base-url", hub_url, "--json").json) == 2


def test_models_lists_the_models_of_anthropic(shell: Shell) -> None:
    shell.set("ANTHROPIC_API_KEY", "sk-secret")
    with serve_in_thread(FakeAnthropicServer) as url:
        rows = shell.run("models", "--provider", "anthropic", "--base-url", url, "--json").json

    assert [(row["name"], row["infill"]) for row in rows] == [("claude-a", ""), ("claude-b", "")]


def test_a_setting_of_one_server_is_not_used_for_another(shell: Shell, hub_url: str) -> None:
    shell.set("LSP_HARNESS_ENGINE__URL", "http://gpu-1:8080")
    shell.set("LSP_HARNESS_ENGINE__API_KEY_ENV", "MINE")
    shell.set("LSP_HARNESS_ENGINE__DIALECT", "anthropic")
    shell.set("LSP_HARNESS_ENGINE__FIM", "granite")
    shell.set("MINE", "sk-secret")
    result = shell.run("models", "--provider", "vllm", "--base-url", hub_url)
    assert (result.code, result.err) == (
        4,
        (
            f"lsp-harness: {hub_url} needs a key; put the right one into the environment variable that "
            "engine.api_key_env names\n"
        ),
    )

    shell.set("VLLM_API_KEY", "sk-secret")
    rows = shell.run("models", "--provider", "vllm", "--base-url", hub_url, "--json").json
    assert [row["infill"] for row in rows] == ["", "by the tokens of qwen2.5-coder"]


def test_the_infill_order_of_a_llama_server_comes_from_the_server(shell: Shell) -> None:
    with serve_in_thread(ListingLlamaServer) as url:
        shell.set("LSP_HARNESS_ENGINE__URL", url)
        assert [row["infill"] for row in shell.run("models", "--json").json] == ["by the server itself"]
        shell.set("LSP_HARNESS_ENGINE__FIM", "none")
        assert [row["infill"] for row in shell.run("models", "--json").json] == [""]


def test_the_address_of_a_provider_is_read_from_the_environment(shell: Shell, hub_url: str) -> None:
    shell.set("ANTHROPIC_BASE_URL", hub_url)
    shell.set("ANTHROPIC_API_KEY", "sk-secret")

    result = shell.run("models", "--provider", "anthropic")
    assert (result.code, result.out) == (4, ""), "the hub wants another header"
    assert "refuses the key in ANTHROPIC_API_KEY" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        ([], 2, "the settings name no remote server; choose one with --provider: llama.cpp, openai"),
        (["--base-url", "http://127.0.0.1:1"], 2, "--base-url needs --provider as well: one of llama.cpp, openai"),
        (["--provider", "none"], 2, "there is no provider 'none'; known are llama.cpp, openai"),
        (["--provider", "openai"], 1, "https://api.openai.com needs a key; set OPENAI_API_KEY"),
        (["--provider", "vllm", "--base-url", "gpu-1:8000"], 2, "the address 'gpu-1:8000' must be http://host:port"),
    ],
)
def test_a_fault_of_a_server_is_one_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, line: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LSP_HARNESS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    result = shell.run("models", *arguments)

    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"lsp-harness: {line}")


def test_a_server_that_does_not_list_models(shell: Shell, llama_server_url: str) -> None:
    shell.set("LLAMA_API_KEY", "wrong")
    result = shell.run("models", "--provider", "llama.cpp", "--base-url", llama_server_url)

    assert (result.code, result.out) == (4, "")
    assert "refuses the key in LLAMA_API_KEY" in result.err
