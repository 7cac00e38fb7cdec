"""Access to the server over HTTP: only programs of this machine that know the token."""

import socket
from pathlib import Path

import httpx2
import pytest

from lsp_harness.errors import UsageError
from lsp_harness.mcp.http_serving import read_token
from tests.mcp.conftest import ServedFolder

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def test_requests_without_the_right_headers_are_refused_without_details(served: ServedFolder):
    async with served.serve_http() as (url, token), httpx2.AsyncClient() as web:
        right = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        wrong = [
            (401, {"Authorization": ""}),
            (401, {"Authorization": f"Bearer {token}x"}),
            (401, {"Authorization": token}),
            (403, {"Host": "evil.example"}),
            (403, {"Host": f"evil.example:{url.split(':')[2].split('/')[0]}"}),
            (403, {"Origin": "http://evil.example"}),
            (403, {"Origin": "null"}),
        ]
        for status, headers in wrong:
            for method in ("GET", "POST", "DELETE", "OPTIONS"):
                answer = await web.request(method, url, headers={**right, **headers}, json=LIST)
                assert answer.status_code == status, (method, headers)
                assert "find_symbol" not in answer.text
                assert token not in answer.text
                assert "access-control-allow-origin" not in answer.headers
        assert (await web.post(url.replace("/mcp", "/other"), headers=right, json=LIST)).status_code == 404


async def test_only_requests_of_this_machine_are_served(served: ServedFolder):
    async with served.serve_http() as (url, _):
        port = int(url.split(":")[2].split("/")[0])
        with socket.socket() as other:
            other.settimeout(5)
            # 127.0.0.2 stands for another address of the machine: a server on all addresses would accept it
            assert other.connect_ex(("127.0.0.2", port)) != 0


def test_a_token_is_made_once_for_the_user_only(tmp_path: Path):
    file = tmp_path / "state" / "mcp.token"
    token = read_token(file)
    assert len(token) >= 32
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_token(file) == token


def test_a_token_that_others_can_read_is_refused(tmp_path: Path):
    file = tmp_path / "mcp.token"
    read_token(file)
    file.chmod(0o644)
    with pytest.raises(UsageError, match="others may read"):
        read_token(file)


def test_a_short_token_is_refused(tmp_path: Path):
    file = tmp_path / "mcp.token"
    file.touch(0o600)
    with pytest.raises(UsageError, match="has no token"):
        read_token(file)
