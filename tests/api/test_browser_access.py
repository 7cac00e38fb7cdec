"""Tests of the access of browsers: links and keys that work once, and the tokens of pages."""

from urllib.parse import urlsplit

from websockets.asyncio.client import connect

from lsp_harness.api.browser_access import CODE_SECONDS, MAX_CODES, MAX_PAGE_TOKENS, BrowserAccess
from tests.api.conftest import ApiProcess


def test_a_code_works_once_and_not_for_long():
    now = [0.0]
    access = BrowserAccess(lambda: now[0])
    code, late = access.create_code(), access.create_code()
    assert access.take_code(code)
    assert not access.take_code(code)
    now[0] = CODE_SECONDS + 1
    assert not access.take_code(late)
    assert not access.take_code("")


def test_codes_and_tokens_are_bounded():
    access = BrowserAccess(lambda: 0.0)
    codes = [access.create_code() for _ in range(MAX_CODES + 1)]
    assert [access.take_code(code) for code in codes].count(True) == MAX_CODES
    tokens = [access.create_token().encode() for _ in range(MAX_PAGE_TOKENS + 1)]
    assert [access.has_token(token) for token in tokens].count(False) == 1


async def test_a_link_gives_a_page_its_own_token_and_keeps_secrets_out_of_addresses(api: ApiProcess):
    async with api.client() as client:
        link = (await client.post("/login-links", json={})).json()["url"]
    async with api.client(has_token=False) as browser:
        opened = await browser.get(link.removeprefix(api.url))
        assert opened.status_code == 303
        cookie = opened.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        place = urlsplit(opened.headers["location"])
        assert place.path == "/"
        key = place.fragment.removeprefix("key=")
        assert api.token not in opened.headers["location"] + cookie
        assert (await browser.get(link.removeprefix(api.url))).status_code == 401, "the link works once"
        again = await browser.get(link.removeprefix(api.url), headers={"accept": "text/html,*/*"})
        assert (again.status_code, "lsp-harness agents page" in again.text) == (401, True)
        assert (await browser.get("/health")).status_code == 401, "the cookie opens the page only"
        assert (await browser.get("/")).status_code != 401
        token = (await browser.post("/login", json={"key": key})).json()["token"]
        assert token != api.token
        assert (await browser.post("/login", json={"key": key})).status_code == 401, "the key works once"
        health = await browser.get("/health", headers={"authorization": f"Bearer {token}"})
        assert health.status_code == 200
    offer = ["lsp-harness", f"lsp-harness.bearer.{token}"]
    origin = f"http://localhost:{api.port}"
    async with connect(
        f"ws://localhost:{api.port}/ws/events",
        subprotocols=offer,  # pyright: ignore[reportArgumentType]
        origin=origin,  # pyright: ignore[reportArgumentType]
    ) as socket:
        assert "connected" in str(await socket.recv())
