"""Tests of the folders of a user's files, also if the usual folders cannot be used."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.config import paths
from lsp_harness.config.load import find_user_config_file
from lsp_harness.disk import file_warnings
from lsp_harness.errors import ConfigError


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for temporary files of a user without any variable."""
    for name in list(os.environ):
        if name.startswith(("XDG_", "LSP_HARNESS_", "SUDO_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    file_warnings.forget_warnings()
    return tmp_path


def _temporary_folder(base: Path) -> Path:
    return base / f"lsp-harness-{os.getuid()}"


def test_a_runtime_folder_of_the_user_is_used(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = surroundings / "run"
    base.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
    assert paths.runtime_folder() == base / "lsp-harness"
    assert paths.describe_replacement(paths.RUNTIME) == ""


def _give_away(base: Path) -> None:
    os.chown(base, 4242, 4242)


def _add_folder_of_another_user(base: Path) -> None:
    (base / "lsp-harness").mkdir(mode=0o700)
    os.chown(base / "lsp-harness", 4242, 4242)


def _add_link(base: Path) -> None:
    (base / "elsewhere").mkdir(mode=0o700)
    (base / "lsp-harness").symlink_to("elsewhere")


def _remove_folder(base: Path) -> None:
    base.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
@pytest.mark.parametrize("damage", [_give_away, _add_folder_of_another_user, _add_link, _remove_folder])
def test_a_foreign_runtime_folder_is_left_alone_and_reported(
    surroundings: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
) -> None:
    base = surroundings / "run"
    base.mkdir()
    damage(base)
    before = sorted(base.rglob("*"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
    assert paths.runtime_folder() == paths.runtime_folder() == _temporary_folder(surroundings)
    assert sorted(base.rglob("*")) == before
    [said] = caplog.messages
    assert f"; {_temporary_folder(surroundings)} is used instead: set XDG_RUNTIME_DIR" in said
    assert paths.describe_replacement(paths.RUNTIME) == said


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_without_a_home_no_folder_is_made_in_the_current_folder(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.chdir(surroundings)
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)

    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", nobody)
    if home != "":
        assert paths.state_folder() == _temporary_folder(surroundings) / "state"
        assert paths.cache_folder() == _temporary_folder(surroundings) / "cache"
    assert find_user_config_file().is_absolute()
    assert {entry.name for entry in surroundings.iterdir()} <= {_temporary_folder(surroundings).name}


def test_a_folder_that_cannot_be_made_is_replaced(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (surroundings / "home").write_text("no folder")
    assert paths.state_folder() == _temporary_folder(surroundings) / "state"
    assert "cannot be made (Not a directory)" in caplog.text
    assert "set XDG_STATE_HOME to a folder of yours" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="sudo makes root of a user")
def test_root_makes_no_folder_in_the_home_of_the_user_who_called_sudo(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = surroundings / "home"
    home.mkdir()
    os.chown(home, 4242, 4242)
    monkeypatch.setenv("SUDO_UID", "4242")
    assert paths.cache_folder() == _temporary_folder(surroundings) / "cache"
    assert list(home.iterdir()) == []
    monkeypatch.setenv("SUDO_UID", "4343")
    assert paths.cache_folder() == home / ".cache" / "lsp-harness"


def test_an_error_says_what_to_do_if_no_folder_can_be_made(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (surroundings / "file").write_text("")
    monkeypatch.setenv("TMPDIR", str(surroundings / "file"))
    monkeypatch.setenv("HOME", str(surroundings / "file"))
    with pytest.raises(ConfigError, match=r"cannot be made \(Not a directory\); set TMPDIR to a folder of yours"):
        paths.state_folder()


def test_the_runtime_folder_is_replaced_if_our_home_is_no_folder(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (surroundings / "file").write_text("")
    monkeypatch.setenv("LSP_HARNESS_HOME", str(surroundings / "file"))
    assert paths.runtime_folder() == _temporary_folder(surroundings)
    assert "set LSP_HARNESS_HOME to a folder of yours" in caplog.text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.ENOSPC, "No space left", "/x/f"),
            "/x cannot be written (No space left); free some room there, or set",
        ),
        (
            OSError(errno.EACCES, "Permission denied", "/x/f"),
            "/x cannot be written (Permission denied); set XDG_CACHE_HOME",
        ),
        (OSError(errno.EISDIR, "Is a directory", "/x/f"), "/x/f is a folder, where a file must be; remove it"),
    ],
)
def test_each_write_error_has_its_own_remedy(error: OSError, said: str) -> None:
    assert paths.describe_write_failure(paths.CACHE, Path("/x"), error).startswith(said)
