"""Tests that a private file is private under each of its URIs."""

import os
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest

from lsp_harness.files.private_files import PrivateFiles


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder that ignores `private/` and a file in a folder whose name is not UTF-8, without a repository."""
    root = tmp_path / "w"
    (root / "private").mkdir(parents=True)
    (root / "app").mkdir()
    (root / ".gitignore").write_text("/private/\n*.hidden.py\n")
    (root / "private" / "p.py").touch()
    (root / "private" / "c#.py").touch()
    latin = os.fsencode(root) + b"/inform\xe1tica"
    os.mkdir(latin)
    Path(os.fsdecode(latin), ".gitignore").write_text("hidden.py\n")
    (root / "app" / "link").symlink_to("../private")
    (root / "app" / "same.py").symlink_to("../private/p.py")
    (tmp_path / "link").symlink_to("w")
    return root


IGNORED = [
    "file://{w}/private/p.py",
    "file:{w}/private/p.py",
    "FILE://{w}/private/p.py",
    "file://localhost{w}/private/p.py",
    "file:///{w}/private/p.py",
    "file://{w}//private//p.py",
    "file://{w}/x/../private/p.py",
    "file://{w}/app/../private/p.py",
    "file://{w}/%70rivate/new.py",
    "file://{w}/private/a%00b.py",
    "file://{w}/private/c#.py",
    "file://{w}/app/link/p.py",
    "file://{w}/app/same.py",
    "file://{up}/link/private/p.py",
    "file://{up}/link/app/same.py",
    "file://{w}/a.hidden.py?x#y",
    "{w}/private/p.py",
    "vscode-notebook-cell:{w}/private/nb.ipynb#W0sZmlsZQ%3D%3D",
    "vscode-notebook-cell:{up}/link/private/nb.ipynb#W0s",
    "git:{w}/private/p.py?%7B%22ref%22%3A%22%22%7D",
    "git:{w}/a.hidden.py?%7B%7D",
    'git:/elsewhere/p.py.git?{{"path":"{w}/private/p.py"}}',
    "gitlens://7b7d{w}/private/p.py",
    "fugitive://{w}/.git//0/private/p.py",
    "vscode-remote://wsl%2BUbuntu{w}/private/p.py",
    "vscode-vfs://github{w}/private/p.py",
    "untitled:{w}/private/p.py",
    "untitled:private/p.py",
    "file://server{w}/private/p.py",
    "file://{w}/inform%E1tica/hidden.py",
    "vscode-notebook-cell:{w}/inform%E1tica/hidden.py#x",
    "file://{w}/inform%EF%BF%BDtica/hidden.py",
]
SECRET = [
    "file://{w}/.env",
    "file://{w}/.ENV.local",
    "untitled:.env",
    "untitled:/x/.Env.production",
    "vscode-notebook-cell:{w}/.env#x",
    "git:{w}/id_rsa?%7B%7D",
    "vscode-remote://ssh/h/u/.aws/config",
    "file://server/share/.aws/config",
    "C:\\Users\\me\\.env",
    "file:///c%3A/W/.ENV",
    "file://{w}/%2Eenv",
    ".env",
]
FREE = [
    "file://{w}/app/m.py",
    "file://{w}/private/../app/m.py",
    "file://{up}/link/app/m.py",
    "vscode-notebook-cell:{w}/app/nb.ipynb#W0s",
    "git:{w}/app/secrets.py?%7B%22path%22%3A%22{w}%2Fapp%2Fsecrets.py%22%2C%22ref%22%3A%22%22%7D",
    "file://{w}/inform%E1tica/m.py",
    "untitled:Untitled-1",
    "untitled:p.py",
    "vscode-vfs://github/acme/x/m.py",
    "jdt://contents/a.jar/m.class?=x",
    "file://{w}/\ud800.py",
    "",
]


def format_uri(form: str, root: Path) -> str:
    return form.format(w=quote_from_bytes(os.fsencode(root)), up=quote_from_bytes(os.fsencode(root.parent)))


@pytest.mark.parametrize("opened", ["w", "link"])
@pytest.mark.parametrize("form", IGNORED)
def test_an_ignored_file_is_private_under_every_uri(root: Path, form: str, opened: str):
    assert PrivateFiles([root.parent / opened]).reason(format_uri(form, root)).startswith("ignored by ")


@pytest.mark.parametrize("form", SECRET)
def test_a_secret_file_is_private_under_every_uri(root: Path, form: str):
    assert PrivateFiles([root]).reason(format_uri(form, root)) == "a file for secrets, by its name"


@pytest.mark.parametrize("opened", ["w", "link"])
@pytest.mark.parametrize("form", FREE)
def test_other_files_are_not(root: Path, form: str, opened: str):
    assert PrivateFiles([root.parent / opened]).reason(format_uri(form, root)) == ""


def test_an_ignored_folder_that_is_opened_by_a_link_is_not_private(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "link").symlink_to("build")
    for opened in ("link", "build"):
        private_files = PrivateFiles([tmp_path / opened])
        assert private_files.reason((tmp_path / "build" / "a.py").as_uri()) == ""
        assert private_files.reason((tmp_path / "link" / "a.py").as_uri()) == ""
    assert PrivateFiles([tmp_path]).reason((tmp_path / "link" / "a.py").as_uri()) == "ignored by .gitignore"
