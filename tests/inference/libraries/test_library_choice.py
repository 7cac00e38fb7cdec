"""Tests of the choice of a library of llama.cpp, and of the machines that have a prebuilt one."""

import json
from pathlib import Path

import pytest

from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries import library_choice
from lsp_harness.inference.libraries.library_catalogue import Machine, library_cards
from lsp_harness.inference.libraries.library_choice import EngineLibrary, find_library
from lsp_harness.inference.libraries.library_fetch import select_library
from tests.inference.libraries.conftest import make_card


def store(folder: Path, name: str) -> Path:
    """Store a library without a download."""
    stored = folder / f"{name}-1.0.0"
    stored.mkdir(parents=True)
    (stored / "libllama.so").write_bytes(b"llama")
    (stored / "library.json").write_text(json.dumps({"files": {"libllama.so": 5}}))
    return stored


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EngineLibrary:
    """A compiled library."""
    library = EngineLibrary("compiled", "compiled", tmp_path / "site" / "lib", "0.3.36")
    monkeypatch.setattr(library_choice, "find_compiled", lambda reason: library)
    return library


@pytest.fixture
def no_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_choice, "find_compiled", lambda reason: None)


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (Machine("linux", "x64", "glibc", (2, 36)), ["linux-x64", "linux-x64-vulkan", "linux-x64-cuda"]),
        (Machine("linux", "arm64", "glibc", (2, 34)), ["linux-arm64"]),
        (Machine("linux", "armv7l", "glibc", (2, 40)), ["linux-armv7l"]),
        (Machine("darwin", "arm64"), ["mac-arm64-metal"]),
        (Machine("darwin", "x64"), ["mac-x64"]),
        (Machine("win32", "x64"), ["win-x64", "win-x64-vulkan", "win-x64-cuda"]),
        (Machine("win32", "arm64"), ["win-arm64"]),
        (Machine("linux", "x64", "glibc", (2, 31)), "the prebuilt libraries need glibc 2.34, and this system has 2.31"),
        (Machine("linux", "x64"), "the prebuilt libraries need glibc 2.34, and this system has another C library"),
        (Machine("linux", "riscv64", "glibc", (2, 40)), "there is no prebuilt library for linux on riscv64"),
        (Machine("freebsd14", "x64"), "there is no prebuilt library for freebsd14 on x64"),
    ],
    ids=lambda value: f"{value.system}-{value.processor}" if isinstance(value, Machine) else "",
)
def test_each_kind_of_machine_has_its_libraries(machine: Machine, expected: list[str] | str):
    names = [card.name for card in machine.list_fitting()]
    assert (names or machine.find_problem()) == expected


def test_the_catalogue_has_a_hash_for_each_library():
    assert len({card.name for card in library_cards()}) == len(library_cards()) == 11
    assert all(len(card.sha512) == 88 for card in library_cards())


def test_this_machine_has_a_system_and_a_processor():
    machine = Machine.read()
    assert machine.system
    assert machine.processor


def test_a_prebuilt_library_is_preferred_to_a_compiled_one(libraries: Path, compiled: EngineLibrary):
    assert find_library() is compiled
    folder = store(libraries, "linux-x64")
    found = find_library()
    assert (found.name, found.origin, found.folder, found.version) == ("linux-x64", "prebuilt", folder, "0.5.0")


def test_a_library_for_a_graphics_card_is_used_if_it_is_chosen(libraries: Path, no_compiled: None):
    for name in ("linux-x64-vulkan", "linux-x64"):
        store(libraries, name)
    assert find_library().name == "linux-x64"
    select_library("linux-x64-vulkan")
    assert find_library().name == "linux-x64-vulkan"
    assert find_library("linux-x64").name == "linux-x64", "the setting comes first"
    select_library("")
    assert find_library().name == "linux-x64"


def test_a_folder_of_the_user_is_used(libraries: Path, tmp_path: Path):
    store(libraries, "linux-x64")
    found = find_library(f"{tmp_path}/")
    assert (found.folder, found.origin) == (tmp_path, "folder")
    with pytest.raises(LibraryError, match=r"/nowhere is no folder$"):
        find_library(f"{tmp_path}/nowhere")


def test_without_a_library_the_error_names_the_command(libraries: Path, no_compiled: None):
    with pytest.raises(LibraryError, match=r"^no prebuilt library is here; run: lsp-harness engine libraries use$"):
        find_library()
    with pytest.raises(LibraryError, match=r"the library linux-x64 is not here; run: .* libraries use linux-x64$"):
        find_library("linux-x64")
    with pytest.raises(LibraryError, match=r"there is no prebuilt library “best”; the catalogue has linux-x64, "):
        find_library("best")
    with pytest.raises(LibraryError, match=r"llama-cpp-python is not installed; run: pip install llama-cpp-python"):
        find_library("compiled")


def test_a_machine_without_a_prebuilt_library_is_told_why(
    libraries: Path, no_compiled: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Machine, "read", lambda: Machine("linux", "riscv64", "glibc", (2, 40)))
    with pytest.raises(
        LibraryError, match=r"no prebuilt library for linux on riscv64; run: pip install llama-cpp-python"
    ):
        find_library()


@pytest.mark.parametrize("damage", ["cut", "gone", "no record", "bad record"])
def test_a_damaged_library_is_not_used(libraries: Path, no_compiled: None, damage: str):
    folder = store(libraries, "linux-x64")
    match damage:
        case "cut":
            (folder / "libllama.so").write_bytes(b"ll")
        case "gone":
            (folder / "libllama.so").unlink()
        case "no record":
            (folder / "library.json").unlink()
        case _:
            (folder / "library.json").write_text("[1")
    with pytest.raises(
        LibraryError, match=r"the library linux-x64 is damaged: .*; run: lsp-harness engine libraries use"
    ):
        find_library()
    with pytest.raises(LibraryError, match=r"the library linux-x64 is damaged: "):
        find_library("linux-x64")


def test_files_of_one_library_are_not_read_by_another():
    first, second = (EngineLibrary(name, "prebuilt", Path("/x"), "0.5.0") for name in ("linux-x64", "compiled"))
    assert first.identity != second.identity
    assert "/" not in EngineLibrary("/usr/lib/llama", "folder", Path("/x"), "").identity
    assert make_card().folder_name == "linux-x64-1.0.0"
