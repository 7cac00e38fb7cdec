"""Tests of access over TCP. The engine also works if the port is not available."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lsp_harness.config import paths
from lsp_harness.engine.http.access_guard import AccessGuard
from lsp_harness.errors import EngineUnavailable
from lsp_harness.inference.access_token import ensure_token, token_file
from tests.support.engine import EngineProcess

TOKEN = "a" * 40
OWN = {"host": "127.0.0.1:8080", "authorization": f"Bearer {TOKEN}"}


async def answer_everything(scope: Any, receive: Any, send: Any) -> None:
    """Answer every request, as an application behind the guard."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


async def ask(headers: list[tuple[str, str]], path: str = "/props", server: Any = ("127.0.0.1", 8080)) -> Any:
    """Return the status, the headers and the body of the answer of the guard."""
    items: list[Any] = []

    async def send(message: Any) -> None:
        items.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "server": server,
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }
    await AccessGuard(answer_everything, [TOKEN])(scope, receive, send)
    return items[0]["status"], dict(items[0]["headers"]), b"".join(part.get("body", b"") for part in items[1:]).decode()


def make_headers(**more: str | None) -> list[tuple[str, str]]:
    return [(name, value) for name, value in (OWN | more).items() if value is not None]


@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        (make_headers(), "/props", 200),
        (make_headers(host="localhost:8080"), "/props", 200),
        (make_headers(host="LOCALHOST:8080"), "/props", 200),
        (make_headers(host="[::1]:8080"), "/props", 200),
        (make_headers(authorization=f"bearer  {TOKEN}"), "/props", 200),
        (make_headers(origin="http://localhost:3000"), "/props", 200),
        (make_headers(origin="https://[::1]"), "/props", 200),
        (make_headers(authorization=None), "/health", 200),
        (make_headers(authorization=None), "/props", 401),
        (make_headers(authorization="Bearer"), "/props", 401),
        (make_headers(authorization=f"Bearer {TOKEN}a"), "/props", 401),
        (make_headers(authorization=f"Bearer {TOKEN[1:]}"), "/props", 401),
        (make_headers(authorization=f"Basic {TOKEN}"), "/props", 401),
        (make_headers(authorization="Bearer é"), "/props", 401),
        ([*make_headers(), ("authorization", f"Bearer {TOKEN}")], "/props", 401),
        (make_headers(authorization=None), "/health/../props", 401),
        (make_headers(host=None), "/props", 403),
        (make_headers(host="127.0.0.1"), "/props", 403),
        (make_headers(host="127.0.0.1:8081"), "/props", 403),
        (make_headers(host="evil.example:8080"), "/health", 403),
        (make_headers(host="127.0.0.1.evil.example:8080"), "/props", 403),
        (make_headers(host="evil.example@127.0.0.1:8080"), "/props", 403),
        (make_headers(host="127.0.0.1:8080/"), "/props", 403),
        (make_headers(host="[::1:8080"), "/props", 403),
        (make_headers(host="localhost:x"), "/props", 403),
        ([*make_headers(), ("host", "127.0.0.1:8080")], "/props", 403),
        (make_headers(origin="http://evil.example"), "/props", 403),
        (make_headers(origin="http://localhost.evil.example"), "/health", 403),
        (make_headers(origin="null"), "/props", 403),
        (make_headers(origin="file://localhost"), "/props", 403),
        (make_headers(origin="http://[::1"), "/props", 403),
    ],
)
async def test_requests_are_let_in_by_their_headers_and_path(headers: list[tuple[str, str]], path: str, status: int):
    assert (await ask(headers, path))[0] == status


async def test_a_refused_request_gets_a_remedy():
    status, headers, body = await ask(make_headers(authorization=None))

    assert (status, headers[b"www-authenticate"]) == (401, b"Bearer")
    assert "lsp-harness engine token" in body
    assert "127.0.0.1:8080" in (await ask(make_headers(host="a:1")))[2]


async def test_a_unix_socket_needs_no_token_and_an_unknown_transport_is_refused():
    assert (await ask([], server=("/run/s", None)))[0] == 200
    assert (await ask([], server=None))[0] == 403


def test_the_token_is_made_once_and_readable_only_by_its_owner(home: Path):
    result = ensure_token()

    assert ensure_token() == result == token_file().read_text()
    assert len(result) >= 43
    assert stat.S_IMODE(token_file().stat().st_mode) == 0o600
    assert [path.name for path in paths.runtime_folder().iterdir()] == ["token"]


@pytest.mark.parametrize("spoil", [lambda file: file.chmod(0o640), lambda file: file.write_text("short")])
def test_an_invalid_token_file_is_not_used(home: Path, spoil: Any):
    ensure_token()
    spoil(token_file())

    with pytest.raises(EngineUnavailable, match="holds no token that only you can read; delete it"):
        ensure_token()


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


async def test_a_port_is_opened_only_on_request_and_only_if_it_is_free(tiny_model: Path, home: Path, taken_port: int):
    sentence = f"port {taken_port} of 127.0.0.1 is not available; set engine.port to another port, or to 0 for none"
    with EngineProcess.start(tiny_model, paths.runtime_folder() / "a") as engine:
        async with engine.http() as http:
            assert not {"tcp_port", "tcp_error"} & (await http.get("/props")).json().keys()
        assert not token_file().exists()
    with EngineProcess.start(tiny_model, paths.runtime_folder() / "b", "--tcp", str(taken_port)) as engine:
        async with engine.http() as http:
            assert (await http.get("/props")).json()["tcp_error"] == sentence
        assert sentence in engine.log()


async def test_the_engine_serves_a_free_tcp_port(tiny_model: Path, home: Path):
    with EngineProcess.start(tiny_model, paths.runtime_folder() / "s", "--tcp", "0") as engine:
        async with engine.http() as http:
            port = (await http.get("/props")).json()["tcp_port"]
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as tcp:
            assert {**(await tcp.get("/health")).json(), "silent_s": 0} == {"status": "ok", "silent_s": 0}
            assert (await tcp.get("/props")).status_code == 401
            assert (await tcp.get("/v1/models", headers={"authorization": "Bearer x"})).status_code == 401
            own = {"authorization": f"Bearer {token_file().read_text()}"}
            assert (await tcp.get("/props", headers=own)).json()["pid"] == engine.process.pid
            assert (await tcp.get("/props", headers=own | {"host": "evil.example"})).status_code == 403
            assert (await tcp.get("/props", headers=own | {"origin": "http://evil.example"})).status_code == 403
