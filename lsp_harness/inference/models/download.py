"""Download of one file over HTTP, which continues after a broken connection."""

from typing import TYPE_CHECKING

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models.partial_file import PartialFile

if TYPE_CHECKING:
    from httpx2 import Client

CONNECT_TIMEOUT_S = 5.0
"""Short, so that the user of a machine without access to the hub learns it quickly."""
READ_TIMEOUT_S = 30.0
MAX_CONNECTIONS = 5
"""Connections for one file. Each further one is only made if the previous one brought bytes."""


def download(url: str, name: str, part: PartialFile) -> None:
    """Download `url` into `part`. Raise PullFailed with the reason.

    Args:
        name: The name of the download for the user.
    """
    import httpx2

    part.report.step(name)
    timeout = httpx2.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    with httpx2.Client(timeout=timeout, follow_redirects=True) as client:
        for attempt in range(MAX_CONNECTIONS):
            resumed = part.resumable_bytes(url)
            if part.expected and resumed == part.expected:
                return
            try:
                _stream(client, url, resumed, part)
                return
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
                raise PullFailed(f"cannot be reached ({str(error) or 'no answer'})") from error
            except httpx2.HTTPError as error:
                if attempt + 1 == MAX_CONNECTIONS or part.resumable_bytes(url) <= resumed:
                    raise PullFailed(f"stopped after {part.resumable_bytes(url)} bytes ({error})") from error


def _stream(client: "Client", url: str, resumed: int, part: PartialFile) -> None:
    # `identity`, because ranges and lengths count compressed bytes
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={resumed}-"} if resumed else {})
    with client.stream("GET", url, headers=headers) as answer:
        if resumed and answer.status_code == 416:
            # the downloaded bytes are not the beginning of the file on the server
            part.discard()
            _stream(client, url, 0, part)
            return
        if not answer.is_success:
            raise PullFailed(f"answers {answer.status_code} {answer.reason_phrase}".rstrip())
        # a server that ignores ranges answers 200 and sends the whole file
        start = resumed if answer.status_code == 206 else 0
        length = int(answer.headers.get("Content-Length", 0))
        if length and part.expected and start + length != part.expected:
            raise PullFailed(f"serves {start + length} bytes instead of {part.expected}")
        with part.append(url, start) as write:
            for chunk in answer.iter_bytes():
                write(chunk)
