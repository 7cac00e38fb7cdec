"""Paths that ignore files exclude, compared with git itself."""

import os
import subprocess
from pathlib import Path

import pytest

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.private_files import PrivateFiles

pytestmark = pytest.mark.process

FILES = {
    ".gitignore": "*.log\n/build/\nnode_modules/\n!keep.log\n# a comment\ndoc/*.txt\n\\#odd.py\n*.tmp \n!\n"
    "q[!z]r\nw[+-9]y\ns*a?*[b-d]*.md\ne/**/f/**/g*h/**/i\n[z-a].py\n[^]x]k\n",
    "sub/.gitignore": "!loud.log\nprivate.py\n/here.py\nbuild/\n!build/x.py\n",
    "sub/deep/.gitignore": "*\n!.gitignore\n!seen.py\n",
}
PATHS = [
    *("a.py", "a.log", "keep.log", "build/a.py", "sub/build/x.py", "sub/build", "lib/build/a.py", "doc/a.txt"),
    *("doc/b/a.txt", "#odd.py", "sub/loud.log", "sub/quiet.log", "sub/private.py", "private.py", "sub/x/private.py"),
    *("sub/here.py", "sub/x/here.py", "sub/deep/a.py", "sub/deep/seen.py", "sub/deep/x/seen.py", "a.tmp"),
    *("node_modules/a/b.js", "sub/node_modules/b.js", "own.py", "Ünï.log", "exact.py"),
    *("q/r", "qzr", "qar", "w/y", "w5y", "sabc.md", "saxxdd.md", "sab.md", "saxb/c.md", "s/axb.md", "y.py"),
    *("xk", "ak", "]k", "x/k"),
    *("e/f/gh/i", "e/1/f/2/3/g4h/f/i/j", "e/f/g/h/i", "e/f/gh", "1/e/f/gh/i"),
]


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, FILES)
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("own.py\n!a.log\n")
    return tmp_path


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_ignored_exactly_where_git_ignores_it(repository: Path, path: str) -> None:
    asked = ["git", "-C", str(repository), "check-ignore", "-q", "--no-index", path]
    # the user's own ignore file is none of the repository's
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "XDG_CONFIG_HOME": str(repository / "none")}
    git = subprocess.run(asked, check=False, env=environment).returncode == 0
    assert bool(IgnoreFiles([repository]).ignoring_file(repository / path)) is git


def test_the_file_that_ignores_a_path_is_named(repository: Path) -> None:
    ignores = IgnoreFiles([repository])
    assert ignores.ignoring_file(repository / "a.log") == ".gitignore"
    assert ignores.ignoring_file(repository / "sub" / "private.py") == "sub/.gitignore"
    assert ignores.ignoring_file(repository / "own.py") == ".git/info/exclude"
    assert ignores.ignoring_file(repository / "a.py") == ""


def test_a_subfolder_of_a_repository_has_its_rules(repository: Path) -> None:
    sub = repository / "sub"
    for roots in ([sub], []):
        assert IgnoreFiles(roots).ignoring_file(sub / "quiet.log")
        assert IgnoreFiles(roots).ignoring_file(sub / "private.py")
        assert not IgnoreFiles(roots).ignoring_file(sub / "loud.log")
    assert IgnoreFiles([sub]).ignoring_file(sub / "quiet.log") == "../.gitignore"


def test_a_workspace_without_a_repository_has_rules_too(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "a.py\n", ".lspharnessignore": "b.py\n", "sub/.lspharnessignore": "!b.py\nc.py\n"})
    ignores = IgnoreFiles([tmp_path])
    assert ignores.ignoring_file(tmp_path / "sub" / "a.py") == ".gitignore"
    assert ignores.ignoring_file(tmp_path / "b.py") == ".lspharnessignore"
    assert ignores.ignoring_file(tmp_path / "sub" / "b.py") == ""
    assert ignores.ignoring_file(tmp_path / "sub" / "c.py") == "sub/.lspharnessignore"


def test_our_own_file_has_the_last_word(repository: Path) -> None:
    (repository / ".lspharnessignore").write_text("secret/\n!loud/\n!quiet.log\n")
    ignores = IgnoreFiles([repository])
    assert ignores.ignoring_file(repository / "secret" / "a.py") == ".lspharnessignore"
    assert ignores.ignoring_file(repository / "sub" / "quiet.log") == ""
    assert ignores.ignoring_file(repository / "a.log") == ".gitignore"


def test_changed_rules_are_used_at_once(tmp_path: Path) -> None:
    ignores, rules, file = IgnoreFiles([tmp_path]), tmp_path / ".gitignore", tmp_path / "a.py"
    assert not ignores.ignoring_file(file)
    rules.write_text("a.py\n")
    assert ignores.ignoring_file(file)
    rules.write_text("b.py\n")
    os.utime(rules, ns=(1, 1))
    assert not ignores.ignoring_file(file)
    rules.write_text("a.py\n")
    assert ignores.ignoring_file(file)
    rules.unlink()
    assert not ignores.ignoring_file(file)


def test_rules_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lsp_harness.files import ignore_files as module

    (tmp_path / ".gitignore").write_text("a.py\n")
    read: list[str] = []
    spec = module._compile_spec
    monkeypatch.setattr(module, "_compile_spec", lambda path: read.append(path) or spec(path))
    ignores = IgnoreFiles([tmp_path])
    for _ in range(3):
        assert ignores.ignoring_file(tmp_path / "a.py")
    assert len(read) == 1


def test_a_worktree_uses_the_excludes_of_its_repository(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree = tmp_path_factory.mktemp("tree") / "t"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True)
    assert IgnoreFiles([tree]).ignoring_file(tree / "own.py")
    assert not IgnoreFiles([tree]).ignoring_file(tree / "a.py")


def test_a_file_outside_of_the_workspace_follows_the_rules_of_its_folder(tmp_path: Path) -> None:
    write(tmp_path, {"w/.gitignore": "*\n", "o/.gitignore": "a.py\n"})
    ignores = IgnoreFiles([tmp_path / "w"])
    assert ignores.ignoring_file(tmp_path / "o" / "a.py")
    assert not ignores.ignoring_file(tmp_path / "o" / "b.py")


@pytest.mark.parametrize("text", [b"\xff\xfe*.py\n", b"!\n", b"[\n", b"\\\n", b"\0\n", b"", b"\n" * 5000])
def test_invalid_rules_are_ignored(tmp_path: Path, text: bytes) -> None:
    (tmp_path / ".gitignore").write_bytes(text + b"\nb.py\n")
    assert not IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "a.txt")
    assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "b.py")


def test_a_folder_in_the_place_of_an_ignore_file_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").mkdir()
    assert not IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "a.py")


def test_the_reason_why_a_file_is_private_is_one_sentence(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "private/\n", "private/a.py": "", "b.py": ""})
    (tmp_path / "c.py").symlink_to(tmp_path / "private" / "a.py")
    (tmp_path / "d.txt").symlink_to(tmp_path / ".env")
    private_files = PrivateFiles([tmp_path])
    assert private_files.reason((tmp_path / "private" / "a.py").as_uri()) == "ignored by .gitignore"
    assert private_files.reason((tmp_path / "c.py").as_uri()) == "ignored by .gitignore"
    assert private_files.reason((tmp_path / "d.txt").as_uri()) == "a file for secrets, by its name"
    assert private_files.reason((tmp_path / "b.py").as_uri()) == ""
    assert private_files.reason("untitled:1", "Untitled-1") == ""
    assert private_files.reason("vscode-remote://host/a/.env", "a/.env") == "a file for secrets, by its name"
    assert private_files.reason("file:///a%00b") == ""


@pytest.mark.parametrize("target", ["nowhere", ".gitignore"])
def test_a_link_in_place_of_rules_that_leads_to_no_file_is_named(
    tmp_path: Path, target: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".gitignore").symlink_to(target)
    assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "a.py") == ""
    [said] = caplog.messages
    assert said.startswith(f"{tmp_path / '.gitignore'} ")
    assert said.endswith("; until then its patterns are not used")
