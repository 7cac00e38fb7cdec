"""The folders and variables that programs of a project get."""

from pathlib import Path

import pytest

from lsp_harness.verify.project_tests.project_view import list_private_paths, list_view_folders, view_environment


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for folder in (".ssh", ".config/gh", ".cargo", "project"):
        (home / folder).mkdir(parents=True)
    for file in (".netrc", ".bash_history", ".cargo/config.toml", ".gitconfig", "project/.env"):
        (home / file).write_text("")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return home


def test_private_files_are_not_there_and_those_that_tests_need_are(home: Path) -> None:
    private = list_private_paths(home / "project")
    assert {home / ".ssh", home / ".config/gh", home / ".netrc", home / ".bash_history"} <= set(private)
    assert {home / ".cargo", home / ".gitconfig", home / "project/.env", home}.isdisjoint(private)


def test_a_runtime_folder_that_others_can_read_is_private_all_the_same(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "runtime"
    (runtime / "lsp-harness").mkdir(parents=True, mode=0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert runtime in list_private_paths(home / "project")
    # a folder that holds the project cannot be taken away
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    assert home not in list_private_paths(home / "project")


def test_changes_of_the_home_and_of_the_folder_around_the_project_are_gone_after_the_run(home: Path) -> None:
    folders = list_view_folders(home / "project")
    assert home in folders or any(home.is_relative_to(folder) for folder in folders)
    assert Path("/") not in folders


def test_the_environment_has_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "NODE_ENV", "DJANGO_SETTINGS_MODULE"):
        monkeypatch.setenv(name, "kept")
    for name in ("DJANGO_SECRET_KEY", "UV_PUBLISH_TOKEN", "AWS_ACCESS_KEY_ID", "OPENAI_API_KEY", "PYTHONPYCACHEPREFIX"):
        monkeypatch.setenv(name, "secret")
    environment = view_environment()
    assert [environment[name] for name in ("PYTHONPATH", "NODE_ENV", "DJANGO_SETTINGS_MODULE")] == ["kept"] * 3
    assert "secret" not in environment.values()
