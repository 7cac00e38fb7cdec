"""The folders and variables that programs of a project get."""

from pathlib import Path

import pytest

from lsp_harness.verify.project_tests.hidden_files import list_private_paths
from lsp_harness.verify.project_tests.project_view import list_program_folders, list_view_folders, view_environment


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


def test_private_files_are_hidden_and_files_that_tests_need_are_visible(home: Path) -> None:
    private = list_private_paths(home / "project")
    assert {home / ".ssh", home / ".config/gh", home / ".netrc", home / ".bash_history"} <= set(private)
    assert {home / ".cargo", home / ".gitconfig", home / "project/.env", home}.isdisjoint(private)


def test_a_runtime_folder_that_others_can_read_is_private(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "runtime"
    (runtime / "lsp-harness").mkdir(parents=True, mode=0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert runtime in list_private_paths(home / "project")
    # a folder that holds the project cannot be taken away
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    assert home not in list_private_paths(home / "project")


def test_changes_outside_of_the_project_are_discarded_after_the_run(home: Path) -> None:
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


@pytest.mark.parametrize("place", ["project/own", "elsewhere", "."])
def test_our_own_folders_are_private_at_any_place(place: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = home / place
    monkeypatch.setenv("LSP_HARNESS_HOME", str(own))
    for name in ("state", "cache", "run", "sessions"):
        (own / name).mkdir(parents=True, mode=0o700)
    private = list_private_paths(home / "project")
    for name in ("state", "cache", "run", "sessions"):
        assert any((own / name).is_relative_to(path) for path in private)
    assert home / "project" not in private


def test_a_project_in_a_private_folder_is_visible_without_its_neighbours(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(home / "own"))
    root = home / "own/state/worktrees/agent"
    root.mkdir(parents=True, mode=0o700)
    token = home / "own/state/api-token"
    token.write_text("")
    private = list_private_paths(root)
    assert token in private
    assert not any(root.is_relative_to(path) for path in private)


def test_private_files_of_a_home_that_is_the_project_can_be_left_out(home: Path) -> None:
    assert home / ".ssh" not in list_private_paths(home)
    assert {home / ".ssh", home / ".netrc"} <= set(list_private_paths(home, keeps_project=False))


def test_the_environment_has_no_value_with_a_password() -> None:
    given = {
        "UV_INDEX_URL": "https://user:pass-word@packages.example/simple",
        "UV_CACHE_DIR": "/tmp/uv",
        "MY_NAME": "me",
    }
    environment = view_environment(given=given)
    assert "pass-word" not in repr(environment)
    assert environment["UV_CACHE_DIR"] == "/tmp/uv"
    assert "MY_NAME" not in environment


def test_programs_are_found_with_the_folders_beside_their_commands(home: Path) -> None:
    for name in (".nvm/v20/bin", ".local/bin", ".local/share/secret", "bin", ".pyenv/shims"):
        (home / name).mkdir(parents=True)
    path = ":".join(str(home / name) for name in (".nvm/v20/bin", ".local/bin", "bin", ".pyenv/shims", "missing"))
    found = list_program_folders(f"{path}:/usr/bin:relative")
    assert set(found) == {home / ".nvm/v20", home / ".local/bin", home / "bin", home / ".pyenv"}


@pytest.mark.parametrize(
    ("name", "is_private"),
    [
        (".bashrc", True),
        (".unknown/token", True),
        (".config/unknown/settings", True),
        (".config/git/config", False),
        (".local/share/unknown/data", True),
        (".local/share/uv/tools/tool", False),
        (".local/state/history", True),
        (".m2/repository/package", False),
        (".m2/settings.xml", True),
        (".work/bin/tool", False),
        (".odd/pyvenv.cfg", False),
        ("snap/browser/profile", True),
        ("Documents/letter", False),
    ],
)
def test_names_with_a_dot_are_private_unless_programs_need_them(
    name: str, is_private: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text("")
    monkeypatch.setenv("PATH", f"{home / '.work/bin'}:/usr/bin")
    private = list_private_paths(home / "project")
    assert any((home / name).is_relative_to(path) for path in private) == is_private


def test_settings_with_a_password_are_private(home: Path) -> None:
    (home / ".gitconfig").write_text(
        '[url "https://me:pass-word@example.com/"]\n\tinsteadOf = "https://example.com/"\n'
    )
    assert home / ".gitconfig" in list_private_paths(home / "project")


def test_the_target_of_a_private_link_is_private_too(home: Path) -> None:
    target = home / "dotfiles/npm"
    target.parent.mkdir()
    target.write_text("")
    (home / ".npmrc").symlink_to(target)
    assert {home / ".npmrc", target} <= set(list_private_paths(home / "project"))


def test_folders_of_programs_that_a_run_needs_stay(home: Path) -> None:
    (home / ".pythons/3.13").mkdir(parents=True)
    (home / ".pythons/token").write_text("")
    private = list_private_paths(home / "project", needed=[home / ".pythons/3.13"])
    assert home / ".pythons/token" in private
    assert home / ".pythons/3.13" not in private
