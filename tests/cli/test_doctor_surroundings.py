"""The rows of `doctor` about directories, sockets and the locale, with their repairs."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_harness.disk import file_writing
from lsp_harness.process.sandbox.bubblewrap import Bubblewrap
from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox import NoSandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from tests.cli.conftest import Shell

USUAL = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME")


@pytest.fixture
def user_shell(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """Return a shell whose files are in the usual directories, and whose sockets have a short path."""
    monkeypatch.delenv("LSP_HARNESS_HOME")
    for name in USUAL:
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    shell.replies()
    short = tempfile.mkdtemp(prefix="lh-")
    monkeypatch.setenv("XDG_RUNTIME_DIR", f"{short}/XDG_RUNTIME_DIR")
    Path(short, "XDG_RUNTIME_DIR").mkdir(mode=0o700)
    yield shell
    shutil.rmtree(short)


def read_doctor_rows(shell: Shell) -> dict[str, tuple[str, str]]:
    """Return the state and the sentence of each row that is not ok."""
    result = shell.run("doctor", "--json")
    assert result.code == (1 if any(row["state"] == "bad" for row in result.json) else 0)
    return {row["what"]: (row["state"], row["says"]) for row in result.json if row["state"] != "ok"}


def test_doctor_reports_no_problem_of_a_healthy_user(user_shell: Shell) -> None:
    assert read_doctor_rows(user_shell).keys() <= {"model", "embeddings", "ruff", "ty", "sandbox"}


@pytest.mark.parametrize(("name", "variable"), [("state", USUAL[0]), ("cache", USUAL[1]), ("runtime", USUAL[2])])
def test_doctor_reports_a_full_disk(
    user_shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, variable: str
) -> None:
    write = file_writing.write_all

    def full(descriptor: int, data: bytes) -> None:
        if variable in os.readlink(f"/proc/self/fd/{descriptor}"):
            raise OSError(28, "No space left on device")
        write(descriptor, data)

    monkeypatch.setattr(file_writing, "write_all", full)
    state, says = read_doctor_rows(user_shell)[name]
    assert state == "bad"
    assert f"cannot be written (No space left on device); free some room there, or set {variable}" in says


def test_a_folder_that_cannot_be_made(user_shell: Shell, tmp_path: Path) -> None:
    user_shell.set("XDG_STATE_HOME", str(user_shell.file("file", "")))
    state, says = read_doctor_rows(user_shell)["state"]
    assert state == "note"
    assert "cannot be made (Not a directory)" in says
    assert "set XDG_STATE_HOME" in says


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_doctor_reports_a_runtime_folder_of_another_user(user_shell: Shell, tmp_path: Path) -> None:
    os.chown(os.environ["XDG_RUNTIME_DIR"], 4242, 4242)
    state, says = read_doctor_rows(user_shell)["runtime"]
    assert state == "note"
    assert "belongs to another user" in says
    assert "set XDG_RUNTIME_DIR" in says


def test_a_path_that_is_too_long_for_a_socket(user_shell: Shell, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir(mode=0o700)
    user_shell.set("XDG_RUNTIME_DIR", str(deep))
    state, says = read_doctor_rows(user_shell)["socket"]
    assert state == "bad"
    assert says.endswith("set XDG_RUNTIME_DIR or LSP_HARNESS_HOME to a shorter path")


@pytest.mark.parametrize("home", [None, "/nowhere/at/all", "relative"])
def test_doctor_reports_an_invalid_home_folder(
    user_shell: Shell, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    state, says = read_doctor_rows(user_shell)["home"]
    assert state == "note"
    assert "LSP_HARNESS_HOME" in says


@pytest.mark.parametrize("name", ["lsp-harness.toml", "lsp-harness.local.toml", ".gitignore", ".lspharnessignore"])
@pytest.mark.parametrize("kind", ["pipe", "device", "UTF-16"])
def test_doctor_reports_a_settings_file_that_cannot_be_read(user_shell: Shell, name: str, kind: str) -> None:
    file = user_shell.folder / name
    file.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case _:
            file.write_text("# é", encoding="utf-16")
    state, says = read_doctor_rows(user_shell)["settings"]
    assert state == "note"
    assert name in says
    assert kind in says


def test_an_output_that_is_not_utf_8(user_shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from lsp_harness.cli.doctor import doctor_surroundings

    class Latin:
        encoding = "ISO-8859-1"

    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Latin())
        rows_by_subject = {what: (state, says) for state, what, says in doctor_surroundings.check_surroundings()}
    assert rows_by_subject["locale"] == (
        "note",
        "output is iso-8859-1: what it lacks is shown in ASCII; set LC_ALL to C.UTF-8",
    )


@pytest.mark.parametrize(
    ("choice", "state", "text"),
    [
        (SandboxChoice(PrivateView()), "ok", "in the folder of the project itself, and nothing that they write stays"),
        (
            SandboxChoice(Bubblewrap(), {"namespaces": "not permitted"}),
            "note",
            "and on a copy of it if they write there (namespaces does not work: not permitted)",
        ),
        (SandboxChoice(Landlock(), {"bubblewrap": "no bwrap"}), "note", "on a copy"),
        (SandboxChoice(NoSandbox(), {"landlock": "old kernel"}), "note", "landlock does not work: old kernel"),
    ],
)
def test_doctor_describes_the_sandbox_of_the_machine(
    choice: SandboxChoice, state: str, text: str, user_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lsp_harness.cli.doctor import doctor_surroundings

    with monkeypatch.context() as patch:
        patch.setattr(doctor_surroundings, "machine_sandbox", lambda: choice)
        [row] = [row for row in doctor_surroundings.check_surroundings() if row.what == "sandbox"]
    assert row.state == state
    assert text in row.says
