"""Changes of a setting in the settings file of the user: everything else stays, and no form is guessed."""

import tomllib
from pathlib import Path

import pytest

from lsp_harness.config.load import find_user_config_file
from lsp_harness.config.setting_writing import write_user_setting
from lsp_harness.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    find_user_config_file().parent.mkdir()
    return find_user_config_file()


def test_a_missing_file_is_created(file: Path):
    file.parent.rmdir()
    assert write_user_setting("model", "path", 'a "b"') == file
    assert tomllib.loads(file.read_text()) == {"model": {"path": 'a "b"'}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# mine\n[engine]\nthreads = 1", '# mine\n[engine]\nthreads = 1\n\n[model]\npath = "new"\n'),
        ("[model]", '[model]\npath = "new"\n'),
        (
            '[model]  # which\ncontext_length = 1\npath = "old"\n\n[engine]\n',
            '[model]  # which\ncontext_length = 1\npath = "new"\n\n[engine]\n',
        ),
        ('[engine]\npath = "x"\n[model]\n[index]\n', '[engine]\npath = "x"\n[model]\npath = "new"\n[index]\n'),
    ],
)
def test_everything_else_stays(file: Path, before: str, after: str):
    file.write_text(before)
    write_user_setting("model", "path", "new")
    assert file.read_text() == after


@pytest.mark.parametrize(
    "text",
    [
        'model = {path = "old"}\n',
        'model.path = "old"\n',
        '[model]\npath = """\nold"""\n',
        '[model]\nnote = """\npath = 1\n"""\n',
        "model = 3\n",
        "[model\n",
    ],
)
def test_a_form_that_cannot_be_changed_safely_is_left_to_the_user(file: Path, text: str):
    file.write_text(text)
    with pytest.raises(ConfigError, match=r'cannot be changed safely; write this line .* yourself: path = "new"'):
        write_user_setting("model", "path", "new")
    assert file.read_text() == text


def test_a_file_that_cannot_be_written_is_named(file: Path):
    file.mkdir()
    with pytest.raises(ConfigError, match=r"config\.toml"):
        write_user_setting("model", "path", "new")
