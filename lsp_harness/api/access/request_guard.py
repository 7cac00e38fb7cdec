"""The checks that every request passes before a route sees it: its name of this machine, its page and its token.

Every web page can reach a port of this machine. So the name in the request must be one of this machine (a page whose
domain was pointed here uses its own name), and the page that sends it must be ours. There are no CORS headers, so that
other pages cannot read answers. A request without the token gets the same answer at every address.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from lsp_harness.api.api_errors import ApiError, Forbidden, InternalError, TooLarge, Unauthorized, make_error_answer
from lsp_harness.api.api_route import MAX_BODY_BYTES
from lsp_harness.api.browser_access import BrowserAccess
from lsp_harness.wire.loopback_access import group_headers, host_names, is_local_host, read_bearer

LOG = logging.getLogger("lsp_harness.api")
SUBPROTOCOL = "lsp-harness"
"""The subprotocol of WebSockets. A page offers it with `lsp-harness.bearer.TOKEN`, and it is the one chosen."""
TOKEN_PREFIX = f"{SUBPROTOCOL}.bearer."
LOGIN_PATH = "/login"
"""The address whose requests carry a code in place of the token."""
PAGE_PATHS = ("/", "/inspector/")
"""The page and the folder of its files. For them the cookie is enough, because they hold nothing of the user."""
COOKIE_NAME = "lsp-harness-page"
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)
CONTENT_POLICY = b"default-src 'none'; frame-ancestors 'none'"
"""The policy of answers that are no page, so that a browser runs nothing of what an agent printed."""
MAX_SHOWN_PATH = 200

Headers = Mapping[bytes, list[bytes]]


class RequestGuard:
    """An application that passes on what is allowed, and answers everything else itself.

    Args:
        app: The ASGI application that is guarded.
        token: The token of the user.
        browsers: The cookie and the tokens of browsers.
        port: The port on which the server listens.
    """

    def __init__(self, app: ASGIApp, token: str, browsers: BrowserAccess, port: int) -> None:
        self._app, self._token, self._browsers = app, token.encode(), browsers
        self._hosts = host_names(port)
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), [0]

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status[0] = message["status"]
                message = {**message, "headers": _with_security(message.get("headers") or [])}
            elif message["type"] == "websocket.accept":
                status[0] = 101
            await send(message)

        try:
            await self._handle(scope, receive, send_with_headers, lambda: status[0] != 0)
        finally:
            self._record(scope, status[0], time.monotonic() - began)

    async def _handle(self, scope: Scope, receive: Receive, send: Send, has_begun: Callable[[], bool]) -> None:
        try:
            self._check(scope)
            await self._app(scope, receive, send)
        except ApiError as error:
            await make_error_answer(error)(scope, receive, send)
        except (ClientDisconnect, WebSocketDisconnect):
            # the client went in the middle of its request, which is no bug
            return
        except Exception as error:
            LOG.error("%s at %s", type(error).__name__, _escaped_path(scope), exc_info=error)
            if not has_begun():
                failure = InternalError("this request failed because of a bug", "look at the log of the server")
                await make_error_answer(failure)(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """Raise ApiError for a request that is not allowed."""
        headers = group_headers(scope)
        if not is_local_host(headers.get(b"host", []), self._hosts):
            raise Forbidden("the request has another host name than this server", "use 127.0.0.1")
        if any(origin.lower() not in self._origins for origin in headers.get(b"origin", [])):
            raise Forbidden("another page than that of this server sent the request", "use the page of this server")
        if (
            headers.get(b"sec-fetch-site", [b"none"])[0] not in (b"none", b"same-origin")
            and scope["path"] != LOGIN_PATH
        ):
            raise Forbidden("another page than that of this server sent the request", "use the page of this server")
        if not self._may_use(scope, headers):
            raise Unauthorized("the request has no valid token", "send the header Authorization: Bearer TOKEN")
        for length in headers.get(b"content-length", []):
            if not length.isdigit() or int(length[:20]) > MAX_BODY_BYTES:
                raise TooLarge(f"the body is larger than {MAX_BODY_BYTES:,} bytes", "send less at once")

    def _may_use(self, scope: Scope, headers: Headers) -> bool:
        path, method = scope["path"], scope.get("method", "")
        if path == LOGIN_PATH and scope["type"] == "http" and method in ("GET", "POST"):
            return True
        if (path == PAGE_PATHS[0] or path.startswith(PAGE_PATHS[1])) and method in ("GET", "HEAD"):
            return self._has_cookie(headers) or self._has_token(read_bearer(headers.get(b"authorization", [])))
        if scope["type"] == "websocket" and (token := _read_subprotocol(scope)):
            return self._has_token(token)
        return self._has_token(read_bearer(headers.get(b"authorization", [])))

    def _has_token(self, token: bytes) -> bool:
        is_own, is_page = compare_digest(token, self._token), self._browsers.has_token(token)
        return is_own or is_page

    def _has_cookie(self, headers: Headers) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            for value in headers.get(b"cookie", []):
                cookies.load(value.decode("latin-1"))
        except CookieError:
            return False
        found = cookies.get(COOKIE_NAME)
        return found is not None and self._browsers.has_cookie(found.value)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        # the query is left out: it may hold a code
        method = scope.get("method") or "WS"
        level = logging.DEBUG if 0 < status < HTTPStatus.BAD_REQUEST else logging.INFO
        LOG.log(level, "%s %s %s %.0f ms", method, _escaped_path(scope), status, seconds * 1000)


def _read_subprotocol(scope: Scope) -> bytes:
    names: Sequence[str] = scope.get("subprotocols") or ()
    for name in names:
        if name.startswith(TOKEN_PREFIX):
            return name.removeprefix(TOKEN_PREFIX).encode("latin-1", "replace")
    return b""


def _with_security(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    names = {name.lower() for name, _ in headers}
    added = [(name, value) for name, value in SECURITY_HEADERS if name not in names]
    if b"content-security-policy" not in names:
        added.append((b"content-security-policy", CONTENT_POLICY))
    return [*headers, *added]


def _escaped_path(scope: Scope) -> str:
    """Return the address of a request for the log, with escapes for characters that could control a terminal."""
    path: str = scope["path"]
    return ascii(path)[1:-1][:MAX_SHOWN_PATH]
