"""Tests of `lsp-harness engine libraries`."""

import json
from pathlib import Path

import pytest

from lsp_harness.cli.commands import libraries_cli
from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries import library_catalogue, library_choice
from tests.inference.libraries.conftest import libraries, npm

__all__ = ["libraries", "npm"]

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def only_prebuilt(libraries: Path, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (library_choice, libraries_cli):
        monkeypatch.setattr(module, "find_compiled", lambda reason: None)
    monkeypatch.setattr(libraries_cli, "library_cards", library_catalogue.library_cards)
    monkeypatch.chdir(tmp_path)


def read_list(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return the state of each library."""
    capsys.readouterr()
    assert libraries_cli.list_(json=True) == 0
    return {row["name"]: row["state"] for row in json.loads(capsys.readouterr().out)["libraries"]}


def test_a_library_is_used_listed_and_removed(npm: Path, capsys: pytest.CaptureFixture[str]):
    assert read_list(capsys) == {"linux-x64": "", "linux-x64-vulkan": ""}
    assert libraries_cli.use(quiet=True) == 0
    assert capsys.readouterr().out.startswith("linux-x64 is used: it is the first prebuilt library for this machine")
    assert read_list(capsys) == {"linux-x64": "used, not tested by us", "linux-x64-vulkan": ""}
    assert libraries_cli.remove("linux-x64") == 0
    assert capsys.readouterr().out.startswith("removed linux-x64, ")
    assert read_list(capsys) == {"linux-x64": "", "linux-x64-vulkan": ""}
    assert libraries_cli.list_() == 0
    assert "no prebuilt library is here; run: lsp-harness engine libraries use" in capsys.readouterr().out
    with pytest.raises(LibraryError, match=r"the library linux-x64 is not in "):
        libraries_cli.remove("linux-x64")


def test_a_chosen_library_is_forgotten_with_its_files(npm: Path, capsys: pytest.CaptureFixture[str]):
    right = (npm / "package.tgz").read_bytes()
    (npm / "package.tgz").write_bytes(b"something else")
    with pytest.raises(LibraryError, match="npm: served a different file; the npm registry: cannot be reached"):
        libraries_cli.use("linux-x64", quiet=True)
    assert library_choice.read_selection() == "", "a library that is not here is not chosen"
    (npm / "package.tgz").write_bytes(right)
    libraries_cli.use("linux-x64", quiet=True)
    assert "it was chosen with `lsp-harness engine libraries use`" in capsys.readouterr().out
    libraries_cli.remove("linux-x64")
    assert library_choice.read_selection() == ""


def test_a_library_for_another_machine_is_refused(npm: Path):
    with pytest.raises(LibraryError, match="there is no prebuilt library “mac-x64”"):
        libraries_cli.use("mac-x64")
    with pytest.raises(LibraryError, match="llama-cpp-python is not installed"):
        libraries_cli.use("compiled")
