"""Requests that must be refused, one at a time. One server gets all of them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.api.conftest import ApiProcess, open_api_home, open_servers, spawn

pytestmark = pytest.mark.asyncio(loop_scope="module")
PATHS = (
    "/",
    "/health",
    "/agents",
    "/sessions",
    "/openapi.json",
    "/nothing",
    "/ws/events",
    "/inspector/app.js",
    "//x",
    "/%00",
)

FOREIGN_HOSTS = (
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:{port}",
    "127.0.0.1.nip.io:{port}",
    "0.0.0.0:{port}",
)
FOREIGN_ORIGINS = ("http://evil.example", "null", "https://localhost:{port}", "http://localhost:1", "file://")
STRANGE_IDS = (
    *("%2e%2e%2f%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "x" * 200, "a%0ab", "%F0%9F%92%A9", "-1", "*", "..%5c"),
)
FOREIGN_FOLDERS = ("..", "/etc", "/", "sub/../..", "link", "/proc/self/root", "\0", "x" * 5000, "~", "nothing")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ApiProcess]:
    """A running server for all tests."""
    with open_api_home() as home:
        async with open_servers(home, tmp_path_factory.mktemp("api")) as start:
            yield await start()


def read_error_code(answer: Any) -> str:
    return answer.json()["error"]["code"]


# -- who may ask
async def test_without_the_token_every_address_gives_the_same_answer(api: ApiProcess):
    answers: set[tuple[int, bytes, str]] = set()
    async with api.client(has_token=False) as client:
        for path in PATHS:
            for method in ("GET", "POST", "DELETE", "PUT", "OPTIONS", "BREW"):
                answer = await client.request(method, path, json={"type": "echo"})
                headers = {**answer.headers, "date": ""}
                answers.add((answer.status_code, answer.content, str(sorted(headers.items()))))
        for value in ("Bearer", f"Bearer {api.token}x", f"Basic {api.token}", api.token, "Bearer \xff"):
            answer = await client.get("/health", headers=[(b"authorization", value.encode("latin-1"))])
            answers.add((answer.status_code, answer.content, str(sorted({**answer.headers, "date": ""}.items()))))
        answer = await client.get(f"/health?token={api.token}")
        answers.add((answer.status_code, answer.content, str(sorted({**answer.headers, "date": ""}.items()))))
    assert [status for status, _, _ in answers] == [401]
    assert b"harness" not in next(iter(answers))[1]


async def test_a_name_that_is_not_of_this_machine_is_refused(api: ApiProcess):
    async with api.client() as client:
        for host in FOREIGN_HOSTS:
            answer = await client.get("/health", headers={"host": host.format(port=api.port)})
            assert (answer.status_code, read_error_code(answer)) == (403, "FORBIDDEN")


async def test_names_of_this_machine_are_taken(api: ApiProcess):
    async with api.client() as client:
        for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
            answer = await client.get("/health", headers={"host": f"{host}:{api.port}"})
            assert answer.status_code == 200


async def test_a_foreign_page_is_refused_and_gets_no_permission_to_read(api: ApiProcess):
    async with api.client() as client:
        for origin in FOREIGN_ORIGINS:
            headers = {"origin": origin.format(port=api.port)}
            answer = await client.get("/health", headers=headers)
            preflight = await client.options("/agents", headers={**headers, "access-control-request-method": "POST"})
            for refused in (answer, preflight):
                assert (refused.status_code, read_error_code(refused)) == (403, "FORBIDDEN"), origin
                assert not [name for name in refused.headers if name.startswith("access-control")]


async def test_a_page_of_another_port_is_refused(api: ApiProcess):
    async with api.client() as client:
        answer = await client.get("/health", headers={"sec-fetch-site": "same-site"})
    assert answer.status_code == 403


async def test_websockets_are_refused_as_requests_are(api: ApiProcess):
    url = f"ws://127.0.0.1:{api.port}/ws/events"

    async def refusal(**options: Any) -> int:
        with pytest.raises(InvalidStatus) as caught:
            async with connect(url, **options):
                pass
        return caught.value.response.status_code

    assert await refusal() == 401
    assert await refusal(subprotocols=["lsp-harness", "lsp-harness.bearer.wrong"]) == 401
    assert await refusal(additional_headers=api.headers, origin="http://evil.example") == 403
    async with connect(url, subprotocols=["lsp-harness", f"lsp-harness.bearer.{api.token}"]) as opened:  # pyright: ignore[reportArgumentType]
        assert opened.subprotocol == "lsp-harness", "the token is not sent back"


# -- what may be asked
async def test_ids_are_no_paths(api: ApiProcess):
    async with api.client() as client:
        for id in STRANGE_IDS:
            for place in (
                "agents/{}",
                "agents/{}/logs",
                "sessions/{}",
                "sessions/{}/events",
                "sessions/{}/artifacts/{}",
            ):
                answer = await client.get("/" + place.replace("{}", id))
                assert answer.status_code == 404, place
            answer = await client.post(f"/permissions/{id}", json={"decision": "allow"})
            assert answer.status_code == 404


async def test_agents_and_sessions_stay_in_the_roots(api: ApiProcess):
    (api.root / "sub").mkdir()
    (api.root / "link").symlink_to("/etc")
    async with api.client() as client:
        for workdir in FOREIGN_FOLDERS:
            for place, body in (("/agents", {"type": "echo", "workdir": workdir}), ("/sessions", {"workdir": workdir})):
                answer = await client.post(place, json=body)
                assert (answer.status_code, read_error_code(answer)) == (400, "INVALID"), workdir
        assert (await client.post("/agents", json={"type": "echo", "workdir": "sub"})).status_code == 201


async def test_names_from_a_client_are_never_run_as_commands(api: ApiProcess):
    trap = api.root / "pwned"
    injection = f"$(touch {trap}); touch {trap} `touch {trap}` | touch {trap}"
    async with api.client() as client:
        # other tests ask the same server
        before = (await client.get("/agents")).json()["agents"]
        for body in (
            {"type": injection},
            {"type": f"touch {trap}"},
            {"type": "/bin/sh", "args": ["-c", f"touch {trap}"]},
            {"type": "../echo"},
            {"type": "echo", "name": injection},
            {"type": "echo", "command": f"touch {trap}"},
            {"type": "echo", "model": "\0"},
            {"type": "shell", "env": {"BASH_ENV": str(trap)}},
            {"type": "shell", "env": {"LD_PRELOAD": "x.so"}},
            {"type": "shell", "env": {"PROMPT_COMMAND": f"touch {trap}"}},
            {"type": "shell", "env": {"A=B": "c"}},
        ):
            answer = await client.post("/agents", json=body)
            assert (answer.status_code, read_error_code(answer)) == (400, "INVALID"), body
        after = (await client.get("/agents")).json()["agents"]
        assert [agent["id"] for agent in after] == [agent["id"] for agent in before]
        agent = await spawn(client, "fake", name="plain.name-1", model="$(touch pwned)")
        assert (await client.delete(f"/agents/{agent['id']}")).status_code == 204
    assert not trap.exists()


async def test_a_large_body_is_refused_before_it_is_read(api: ApiProcess):
    async with api.client() as client:
        answer = await client.post("/agents", content=b"x" * 2_100_000)
        assert (answer.status_code, read_error_code(answer)) == (413, "TOO_LARGE")

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(30):
                yield b"x" * 100_000

        chunked = await client.post("/agents", content=pieces())
        assert (chunked.status_code, read_error_code(chunked)) == (413, "TOO_LARGE")


async def test_a_large_message_ends_its_websocket_only(api: ApiProcess):
    url = f"ws://127.0.0.1:{api.port}/ws/events"
    async with (
        connect(url, additional_headers=api.headers) as large,
        connect(url, additional_headers=api.headers) as other,
    ):
        await large.send("x" * 1_200_000)
        assert json.loads(await large.recv())["type"] == "connected"
        with pytest.raises(ConnectionClosed) as caught:
            await large.recv()
        assert caught.value.rcvd
        assert caught.value.rcvd.code == 1009
        await other.send("ping")
        assert json.loads(await other.recv())["type"] == "connected"
        assert json.loads(await other.recv())["type"] == "pong"


async def test_only_this_machine_can_connect(api: ApiProcess):
    listening = [
        c.laddr.ip for c in psutil.Process(api.process.pid).net_connections() if c.status == psutil.CONN_LISTEN
    ]
    assert set(listening) <= {"127.0.0.1", "::1"}
    assert "127.0.0.1" in listening
