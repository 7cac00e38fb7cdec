"""The access of browsers: links that work once, and tokens of pages.

A browser has to get the token without one in an address, because addresses are kept in histories, logs and lists of
processes. A cookie is no place for it either: browsers send the cookies of
`localhost` to all ports of this machine. So:

1. A program with the token asks for a link. The link has a code that works once and for a minute.
2. The browser opens it. It gets a cookie, with which only the files of the page can be read, and is sent to `/#key=…`.
   The part of an address after `#` never leaves the browser.
3. The page changes the key, which works once too, for a token of its own. It keeps the token in its `sessionStorage`,
   which belongs to one port and one tab, and sends it as a header, or as a subprotocol of a WebSocket.
"""

import secrets
import time
from collections.abc import Callable
from hmac import compare_digest

CODE_SECONDS = 60.0
MAX_CODES = 16
MAX_PAGE_TOKENS = 64
"""Pages that can be used at once. The oldest token is forgotten for a new one."""


class BrowserAccess:
    """The codes, the cookie and the tokens of browsers, in memory only.

    Args:
        clock: The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._tokens: list[str] = []
        self.cookie = secrets.token_urlsafe(32)
        """The value of the cookie that opens the files of the page."""

    def create_code(self) -> str:
        """Return a code that works once, within a minute."""
        now = self._clock()
        self._codes = {code: end for code, end in self._codes.items() if end > now}
        while len(self._codes) >= MAX_CODES:
            self._codes.pop(next(iter(self._codes)))
        code = secrets.token_urlsafe(32)
        self._codes[code] = now + CODE_SECONDS
        return code

    def take_code(self, code: str) -> bool:
        """Return whether a code is valid. It is not valid again."""
        given, found = code.encode("utf-8", "replace"), ""
        for known in self._codes:
            if compare_digest(given, known.encode()):
                found = known
        return bool(found) and self._codes.pop(found) > self._clock()

    def create_token(self) -> str:
        """Return a new token of a page."""
        self._tokens = [*self._tokens[1 - MAX_PAGE_TOKENS :], secrets.token_urlsafe(32)]
        return self._tokens[-1]

    def has_token(self, token: bytes) -> bool:
        """Return whether a token is that of a page."""
        # all are compared, so that the time tells nothing
        matches = [compare_digest(token, known.encode()) for known in self._tokens]
        return any(matches)

    def has_cookie(self, value: str) -> bool:
        """Return whether a value is that of the cookie."""
        return compare_digest(value.encode("utf-8", "replace"), self.cookie.encode())
