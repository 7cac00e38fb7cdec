"""One file over HTTP, taken up again where it broke off."""

from typing import TYPE_CHECKING

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models.partial_file import PartialFile

if TYPE_CHECKING:
    from httpx2 import Client

CONNECT_TIMEOUT_S = 5.0
"""A machine that cannot see the hub should be told so at once."""
READ_TIMEOUT_S = 30.0
MAX_CONNECTIONS = 5
"""Connections for one file; each but the first only if the one before brought something."""


def download(url: str, name: str, part: PartialFile) -> None:
    """Fetch `url` into `part`; `name` is what a person calls it. A PullFailed gives the reason."""
    import httpx2

    part.report.step(name)
    timeout = httpx2.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    with httpx2.Client(timeout=timeout, follow_redirects=True) as client:
        for attempt in range(MAX_CONNECTIONS):
            kept = part.kept(url)
            if part.expected and kept == part.expected:
                return
            try:
                _stream(client, url, kept, part)
                return
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
                raise PullFailed(f"cannot be reached ({str(error) or 'no answer'})") from error
            except httpx2.HTTPError as error:
                if attempt + 1 == MAX_CONNECTIONS or part.kept(url) <= kept:
                    raise PullFailed(f"stopped after {part.kept(url)} bytes ({error})") from error


def _stream(client: "Client", url: str, kept: int, part: PartialFile) -> None:
    # `identity`, because ranges and lengths count the bytes that travel, not those they unpack to.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={kept}-"} if kept else {})
    with client.stream("GET", url, headers=headers) as answer:
        if kept and answer.status_code == 416:
            # What we have is not the beginning of what is there.
            part.discard()
            _stream(client, url, 0, part)
            return
        if not answer.is_success:
            raise PullFailed(f"answers {answer.status_code} {answer.reason_phrase}".rstrip())
        # A server that ignores ranges says 200 and sends everything.
        start = kept if answer.status_code == 206 else 0
        length = int(answer.headers.get("Content-Length", 0))
        if length and part.expected and start + length != part.expected:
            raise PullFailed(f"serves {start + length} bytes instead of {part.expected}")
        with part.appending(url, start) as write:
            for chunk in answer.iter_bytes():
                write(chunk)
