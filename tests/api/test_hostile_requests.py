"""Tests of hostile requests, and of secrets that no log, event or file may contain."""

import asyncio
import json
import random
import socket
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from lsp_harness.api.access.bounded_protocol import MAX_CONNECTIONS
from lsp_harness.api.routes.route_table import ROUTES
from tests.api.conftest import ApiProcess, spawn
from tests.support.rounds import count_rounds

MALFORMED = count_rounds(10_000)
SECRET = "sk-ant-api03-" + "s3cr3t" * 12
PATH_TEXTS = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", "%00", "%FF", "..", "9" * 30)
QUERY_NAMES = ("lines", "since", "limit", "q", "raw", "folder")
QUERY_TEXTS = ("-1", "x", "%00", "9" * 40, "1_0", "%ED%A0%80", "%C2%B2", "1e5", "")


# -- a flood
def draw_malformed_heads(chance: random.Random) -> Iterator[bytes]:
    """Yield what is no request, or one that must be refused, without the token."""
    good = b"GET /agents HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 3\r\n\r\n{}"
    while True:
        kind = chance.randrange(5)
        if kind == 0:
            yield chance.randbytes(chance.randrange(1, 300)) + b"\r\n\r\n"
        elif kind == 1:
            data = bytearray(good)
            for _ in range(chance.randrange(1, 8)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            yield bytes(data) + b"\r\n\r\n"
        elif kind == 2:
            yield b"GET /" + b"a" * chance.randrange(1, 70_000) + b" HTTP/1.1\r\n\r\n"
        elif kind == 3:
            yield (
                b"POST /agents HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
                + chance.randbytes(20)
                + b"\r\n"
            )
        else:
            yield b"\x16\x03\x01" + chance.randbytes(200) + b"\r\n\r\n"


def draw_malformed_bodies(chance: random.Random) -> Iterator[tuple[str, str, bytes]]:
    """Yield methods, addresses and bodies with the token, of which none starts or stops anything."""
    values: tuple[Any, ...] = (
        None,
        True,
        -1,
        10**400,
        1.5,
        "",
        "\ud800",
        "x" * 300,
        [],
        [[[]]],
        {},
        {"a": None},
        ["x"],
        "../..",
    )
    routes = [route for route in ROUTES if route.name not in ("createSession", "showHealth", "createLoginLink")]
    names = sorted({name for route in routes for name in (route.body or {}).get("properties", {})})
    while True:
        route = chance.choice(routes)
        path = route.path
        for part in ("agent_id", "session_id", "question_id", "task_id", "artifact_id", "request_id", "turn"):
            path = path.replace(f"{{{part}}}", chance.choice(PATH_TEXTS))
        fields = [f"{chance.choice(QUERY_NAMES)}={chance.choice(QUERY_TEXTS)}" for _ in range(chance.randrange(3))]
        query = "&".join(fields)
        kind = chance.randrange(4)
        if kind == 0:
            body = chance.randbytes(chance.randrange(100))
        elif kind == 1:
            body = b"[" * chance.randrange(1, 5000)
        else:
            members = {chance.choice((*names, "unknown")): chance.choice(values) for _ in range(chance.randrange(5))}
            body = json.dumps(members).encode()
        method = route.method if chance.randrange(5) else chance.choice(("PUT", "PATCH", "HEAD", "OPTIONS", "GET"))
        yield method, f"{path}?{query}" if query else path, body


async def send_raw(api: ApiProcess, data: bytes) -> int:
    """Send bytes on a connection of their own, read the answer to its end, and return its status or 0."""
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    answer = b""
    try:
        writer.write(data)
        writer.write_eof()
        answer = await reader.read()
    except ConnectionError:
        pass
    finally:
        writer.close()
    words = answer.split(b" ", 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def write_request_with_token(api: ApiProcess, method: str, path: str, body: bytes) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{api.port}\r\nconnection: close\r\n"
    return f"{head}authorization: Bearer {api.token}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.timeout(500)
async def test_malformed_requests_are_answered_without_a_bug(api: ApiProcess):
    chance = random.Random(32)
    heads, bodies = draw_malformed_heads(chance), draw_malformed_bodies(chance)
    statuses = dict[int, int]()
    before = psutil.Process(api.process.pid).num_fds()
    for _ in range(MALFORMED // 100):
        requests = [next(heads) for _ in range(50)] + [write_request_with_token(api, *next(bodies)) for _ in range(50)]
        for request, status in zip(requests, await asyncio.gather(*(send_raw(api, r) for r in requests)), strict=True):
            statuses[status] = statuses.get(status, 0) + 1
            assert status < 500, request
    async with api.client() as client:
        assert (await client.get("/health")).json()["agents"]["total"] == 0
    assert psutil.Process(api.process.pid).num_fds() <= before + 5
    assert statuses.keys() >= {200, 400, 404, 405}
    log = api.log.decode()
    assert "Traceback" not in log, log[max(0, log.find("Traceback") - 200) :][:9000]
    assert "ERROR" not in log


async def test_a_thousand_connections_are_limited_and_the_server_survives(api: ApiProcess):
    sockets: list[socket.socket] = []
    try:
        sockets += [socket.create_connection(("127.0.0.1", api.port), timeout=30) for _ in range(1000)]
        process = psutil.Process(api.process.pid)
        refused = 0
        for opened in sockets[MAX_CONNECTIONS:]:
            refused += b" 503 " in opened.recv(1000)
        assert refused >= 1000 - MAX_CONNECTIONS - 5
        async with asyncio.timeout(30):
            while process.num_fds() > MAX_CONNECTIONS + 60:
                await send_raw(api, b"\r\n\r\n")
    finally:
        for opened in sockets:
            opened.close()
    async with api.client() as client, asyncio.timeout(30):
        while (await client.get("/health")).status_code != 200:
            pass


# -- secrets
async def test_no_secret_is_in_a_log_an_event_a_file_or_the_list_of_processes(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell", env={"ANTHROPIC_API_KEY": SECRET}, name="holder")
        place = f"/agents/{agent['id']}"
        reply = (
            await client.post(f"{place}/send", json={"message": 'test -n "$ANTHROPIC_API_KEY" && echo it is set'})
        ).json()
        assert "it is set" in reply["response"]
        link = (await client.post("/login-links", json={})).json()["url"]
        await client.get(link.removeprefix(api.url))
        texts = [
            (await client.get(path)).text
            for path in ("/events", "/agents", place, f"{place}/explain", "/health", "/openapi.json")
        ]
    commands = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
    files = [
        path.read_text("utf-8", "replace")
        for path in api.home.rglob("*")
        if path.is_file() and path.parent != api.curl_home
    ]
    for text in (*texts, *commands, *files, api.log.decode()):
        assert SECRET not in text
        assert api.token not in text
        assert link.rpartition("=")[2] not in text


async def test_the_files_of_the_server_are_private_and_go_with_it(api: ApiProcess):
    files = sorted(path.name for path in api.curl_home.iterdir())
    assert files == [".curlrc", "api-token", "api.json"]
    for path in (api.curl_home, *api.curl_home.iterdir()):
        assert path.stat().st_mode & 0o077 == 0
    assert await api.end() == 0
    assert list(api.curl_home.iterdir()) == []


def test_the_table_has_each_operation_once():
    assert len({route.name for route in ROUTES}) == len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_bodies_refuse_members_that_they_do_not_name():
    assert [route.name for route in ROUTES if route.body and route.body.get("additionalProperties") is not False] == []
