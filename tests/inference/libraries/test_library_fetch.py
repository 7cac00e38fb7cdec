"""Tests of the download of a library: afterwards its folder has the right files, or it does not exist."""

import json
import shutil
from pathlib import Path

import pytest

from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries import library_fetch
from lsp_harness.inference.libraries.library_catalogue import LibraryCard
from lsp_harness.inference.libraries.library_fetch import fetch_library, find_registry, remove_library
from tests.inference.libraries.conftest import EMPTY_PACKAGE, FILES, PACKAGE, Recorder, make_card, make_package
from tests.inference.models.conftest import FakeWebServer

ADDRESS = "/@here/linux-x64/-/linux-x64-1.0.0.tgz"
STORED = {"LICENSE", "library.json", "libllama.v0.5.0.so", "libggml.v0.5.0.so"}


def list_files(libraries: Path) -> set[str]:
    """Return what is in the folder of libraries, but its lock."""
    return {file.name for file in libraries.iterdir()} - {".lock"}


@pytest.mark.process
def test_npm_downloads_a_package_which_is_only_read(libraries: Path, npm: Path, report: Recorder):
    folder = fetch_library(make_card(), report)
    assert {file.name for file in folder.iterdir()} == STORED
    assert (folder / "libllama.v0.5.0.so").read_bytes() == FILES["package/bins/linux-x64/libllama.v0.5.0.so"]
    assert list_files(libraries) == {"linux-x64-1.0.0"}
    [call] = (npm / "calls").read_text().splitlines()
    assert call.startswith("pack @here/linux-x64@1.0.0 --silent --ignore-scripts ")
    assert report.notes == ["@here/linux-x64 1.0.0 from npm"]
    # what is here is not downloaded again
    assert fetch_library(make_card()) == folder
    assert len((npm / "calls").read_text().splitlines()) == 1


@pytest.mark.process
def test_a_damaged_library_is_replaced(libraries: Path, npm: Path):
    folder = fetch_library(make_card())
    (folder / "libllama.v0.5.0.so").write_bytes(b"")
    assert fetch_library(make_card()) == folder
    assert (folder / "libllama.v0.5.0.so").stat().st_size == 500


@pytest.mark.process
def test_the_registry_is_asked_if_npm_fails(
    libraries: Path, npm: Path, web_server: FakeWebServer, monkeypatch: pytest.MonkeyPatch, report: Recorder
):
    (npm / "npm").write_text("#!/bin/sh\necho 'npm error code E404' >&2\nexit 1\n")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"{web_server.base}/")
    web_server.files[ADDRESS] = PACKAGE
    assert {file.name for file in fetch_library(make_card(), report).iterdir()} == STORED
    assert report.notes[1] == "npm ended with 1: code E404"


def test_a_broken_connection_continues(
    libraries: Path, no_npm: None, web_server: FakeWebServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", web_server.base)
    web_server.files[ADDRESS] = PACKAGE
    web_server.cuts = [len(PACKAGE) // 2]
    assert {file.name for file in fetch_library(make_card()).iterdir()} == STORED
    assert [wanted for _, wanted in web_server.asked] == [None, f"bytes={len(PACKAGE) // 2}-"]


def test_the_registry_of_npm_is_read_without_npm(no_npm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".npmrc").write_text('fund=false\nregistry = "https://registry.example/npm/"\n')
    assert find_registry() == "https://registry.example/npm"
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://other.example")
    assert find_registry() == "https://other.example"


@pytest.mark.parametrize(
    ("served", "card", "reason"),
    [
        (PACKAGE[:-1] + b"x", make_card(), r"the npm registry: served a different file"),
        (PACKAGE[:100], make_card(data=PACKAGE[:100]), r"linux-x64-1\.0\.0\.tgz\.part is damaged \("),
        (b"<html>", make_card(data=b"<html>"), r"linux-x64-1\.0\.0\.tgz\.part is damaged \("),
        (EMPTY_PACKAGE, make_card(data=EMPTY_PACKAGE), r"holds no library of llama\.cpp"),
        (None, make_card(), r"the npm registry: answers 404 Not Found"),
    ],
    ids=["other bytes", "cut archive", "no archive", "empty archive", "no package"],
)
def test_a_package_that_is_not_right_leaves_nothing(
    libraries: Path,
    no_npm: None,
    web_server: FakeWebServer,
    monkeypatch: pytest.MonkeyPatch,
    served: bytes | None,
    card: LibraryCard,
    reason: str,
):
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", web_server.base)
    if served is not None:
        web_server.files[ADDRESS] = served
    with pytest.raises(LibraryError, match=reason):
        fetch_library(card)
    assert list_files(libraries) <= {"linux-x64-1.0.0.tgz.part", "linux-x64-1.0.0.tgz.part.json"}
    # the right package is taken afterwards
    web_server.files[ADDRESS] = PACKAGE
    assert {file.name for file in fetch_library(make_card()).iterdir()} == STORED
    assert list_files(libraries) == {"linux-x64-1.0.0"}


def test_without_a_network_the_error_says_what_was_tried(
    libraries: Path, no_npm: None, monkeypatch: pytest.MonkeyPatch
):
    # nobody listens on the port that a program gets last
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9")
    with pytest.raises(LibraryError, match=r"could not be had \(the npm registry: cannot be reached \("):
        fetch_library(make_card())
    assert list_files(libraries) == set()


def test_a_disk_without_room_is_said_before_the_download(
    libraries: Path, no_npm: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 99, 1))  # pyright: ignore
    with pytest.raises(LibraryError, match=r"has 0 MiB free, but \d+ are needed; free some space, or set "):
        fetch_library(make_card())


def test_a_full_disk_leaves_nothing(
    libraries: Path, no_npm: None, web_server: FakeWebServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", web_server.base)
    web_server.files[ADDRESS] = PACKAGE

    def fail(content: object, path: Path) -> int:
        path.write_bytes(b"a part")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(library_fetch, "_write_file", fail)
        with pytest.raises(LibraryError, match=r"cannot be stored in .*: No space left on device; set "):
            fetch_library(make_card())
    assert not (libraries / "linux-x64-1.0.0").exists()
    assert not (libraries / "linux-x64-1.0.0.new").exists()
    assert {file.name for file in fetch_library(make_card()).iterdir()} == STORED


def test_a_folder_that_cannot_be_written_is_named(libraries: Path, no_npm: None):
    libraries.write_text("this is a file")
    with pytest.raises(
        LibraryError, match=r"the library cannot be stored in .*/libraries: .*; set LSP_HARNESS_LIBRARIES"
    ):
        fetch_library(make_card())


def test_names_in_a_package_lead_nowhere_else(
    libraries: Path, no_npm: None, web_server: FakeWebServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", web_server.base)
    package = make_package({"../../libllama.so": b"llama", "/tmp/../libggml.so": b"ggml", "x/../../evil.py": b"evil"})
    web_server.files[ADDRESS] = package
    folder = fetch_library(make_card(data=package))
    assert json.loads((folder / "library.json").read_text()) == {"files": {"libllama.so": 5, "libggml.so": 4}}
    assert {file.name for file in tmp_path.rglob("*") if file.is_file()} == {
        *("libllama.so", "libggml.so", "library.json", ".lock")
    }


@pytest.mark.process
def test_a_library_is_removed(libraries: Path, npm: Path):
    fetch_library(make_card())
    assert remove_library(make_card()) > 900
    assert list_files(libraries) == set()
    assert remove_library(make_card()) == 0
