"""A folder for libraries, packages that are no real libraries, and sources for them. No test uses another machine."""

import base64
import hashlib
import io
import stat
import tarfile
from pathlib import Path

import pytest

from lsp_harness.inference.libraries import library_catalogue, library_fetch
from lsp_harness.inference.libraries.library_catalogue import LibraryCard, Machine
from tests.inference.models.conftest import RecordingReport, report, web_server

__all__ = ["report", "web_server"]

HERE = Machine("linux", "x64", "glibc", (2, 36))
FILES = {
    "package/bins/linux-x64/libllama.v0.5.0.so": b"llama" * 100,
    "package/bins/linux-x64/libggml.v0.5.0.so": b"ggml" * 100,
    "package/bins/linux-x64/libllama-common.so": b"not needed",
    "package/bins/linux-x64/llama-addon.node": b"not needed",
    "package/package.json": b"{}",
    "package/LICENSE": b"MIT",
}


def make_package(files: dict[str, bytes]) -> bytes:
    """Return an npm package with files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


PACKAGE = make_package(FILES)
EMPTY_PACKAGE = make_package({"a.txt": b""})


def make_card(name: str = "linux-x64", data: bytes = PACKAGE, *, device: str = "cpu") -> LibraryCard:
    """Return a library of the catalogue whose package is `data`."""
    sha512 = base64.b64encode(hashlib.sha512(data).digest()).decode()
    return LibraryCard(name, f"@here/{name}", "1.0.0", "0.5.0", "linux", "x64", device, sha512, len(data))  # pyright: ignore[reportArgumentType]


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of libraries, which does not exist yet, on a machine of the catalogue with two libraries."""
    folder = tmp_path / "libraries"
    monkeypatch.setenv("LSP_HARNESS_LIBRARIES", str(folder))
    cards = (make_card(), make_card("linux-x64-vulkan", device="vulkan"))
    monkeypatch.setattr(library_catalogue, "library_cards", lambda: cards)
    monkeypatch.setattr(Machine, "read", lambda: HERE)
    return folder


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs with an npm that writes `package.tgz` of this folder as the package that it is asked for."""
    folder = tmp_path / "programs"
    folder.mkdir()
    program = folder / "npm"
    program.write_text(f'#!/bin/sh\necho "$@" >>{folder}/calls\n/bin/cp {folder}/package.tgz "$6/got.tgz"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (folder / "package.tgz").write_bytes(PACKAGE)
    monkeypatch.setenv("PATH", str(folder))
    # nobody listens there
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9")
    return folder


@pytest.fixture
def no_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program can be found, and the home of the user has no settings of npm."""
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    assert library_fetch.find_registry() == library_fetch.DEFAULT_REGISTRY


Recorder = RecordingReport
