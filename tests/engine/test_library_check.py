"""The check of a library of llama.cpp that no test of ours has run."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.engine.decode import library_check
from lsp_harness.engine.decode.library_check import EXPECTED, check_library, generate_tokens, write_check_model
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries.library_choice import EngineLibrary
from tests.engine.conftest import Llama


def make_untested() -> EngineLibrary:
    """Return the library of these tests as the folder of a user."""
    folder: Path = lib.library.folder
    return EngineLibrary(str(folder), "folder", folder, "", "the user names it")


def test_the_expected_tokens_are_far_ahead_of_others(llama: Llama, tmp_path: Path) -> None:
    write_check_model(tmp_path / "check.gguf")
    generated = generate_tokens(tmp_path / "check.gguf")
    assert tuple(token for token, _ in generated) == EXPECTED
    assert min(distance for _, distance in generated) > 0.01


@pytest.mark.process
def test_a_library_is_checked_once(
    llama: Llama, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    library = make_untested()
    check_library(library)
    [result] = json.loads((home / "cache" / "libraries.json").read_text()).values()
    assert result == ""
    monkeypatch.setattr(sys, "executable", "/no/python")
    check_library(library)
    # one that our tests ran with is not checked at all
    check_library(replace(library, folder=Path("/no/folder"), is_tested=True))


@pytest.mark.process
def test_a_library_that_generates_other_tokens_is_refused(
    llama: Llama, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_check, "EXPECTED", (1, 2, 3, 4, 5))
    for _ in range(2):
        with pytest.raises(LibraryError, match=r"its check: it generates the tokens \(15, 172, 227, 216\)"):
            check_library(make_untested())


@pytest.mark.process
def test_a_library_that_ends_the_process_is_refused(home: Path, tmp_path: Path) -> None:
    library = EngineLibrary(str(tmp_path), "folder", tmp_path, "", "")
    with pytest.raises(LibraryError, match=r"a program that uses it ended with 1 .*has no file of llama\.cpp"):
        check_library(library)
