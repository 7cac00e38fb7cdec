"""The release script: what it refuses, what it writes, and a dry run that leaves nothing."""

import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from tests.test_tidy import ROOT
from tools import release

VERSION = "99.0.0"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the files that a release writes, in one commit on `main`."""
    root = tmp_path / "repository"
    for name in (*release.VERSION_LINES, "CHANGELOG.md", "changelog.d/README.md", "pyproject.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / ".gitignore").write_text(".venv\nnode_modules\n")
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    return root


def git(root: Path, *arguments: str) -> str:
    person = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    return subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Change the repository")


def make_ready(root: Path) -> None:
    (root / "changelog.d" / "+new.added.md").write_text("A line of the changelog.\n")
    commit(root)
    (root / release.EXTENSION / "node_modules").mkdir()
    (root / release.GREEN_MARK).parent.mkdir()
    (root / release.GREEN_MARK).write_text(git(root, "rev-parse", "HEAD"))


def test_a_clean_and_tested_main_has_no_problems(repository: Path):
    make_ready(repository)
    assert release.find_problems(repository, VERSION) == []


def test_each_problem_of_a_repository_is_listed(repository: Path):
    make_ready(repository)
    git(repository, "tag", f"v{VERSION}")
    (repository / "changelog.d" / "+new.added.md").unlink()
    commit(repository)
    git(repository, "checkout", "--quiet", "-b", "other")
    (repository / "CHANGELOG.md").write_text("changed")
    (repository / release.EXTENSION / "node_modules").rmdir()
    words = ("not clean", "not main", "a tag for", "have not passed", "node modules", "has no lines")
    problems = release.find_problems(repository, VERSION)
    assert len(problems) == len(words)
    assert [word for word, problem in zip(words, problems, strict=True) if word not in problem] == []


def test_the_version_is_written_into_each_file(repository: Path):
    release.write_version(repository, VERSION)
    counts = {name: (repository / name).read_text().count(f'"{VERSION}"') for name in release.VERSION_LINES}
    assert counts == {name: count for name, (_, _, count) in release.VERSION_LINES.items()}
    changed = git(repository, "diff", "--numstat").splitlines()
    assert sorted(line.split("\t")[0] for line in changed) == ["1", "1", "1", "2"]


def test_lines_of_the_changelog_become_a_section(repository: Path):
    make_ready(repository)
    release.write_changelog(repository, VERSION)
    text = (repository / "CHANGELOG.md").read_text()
    assert f"## {VERSION} - {date.today().isoformat()}\n\n### Added\n\n- A line of the changelog." in text
    assert not release.list_fragments(repository)


def test_a_released_section_of_the_changelog_has_its_date(repository: Path):
    (repository / "CHANGELOG.md").write_text(f"# Changelog\n\n{release.unreleased_heading(VERSION)}\n\n- All.\n")
    release.write_changelog(repository, VERSION)
    assert f"## {VERSION} - {date.today().isoformat()}\n\n- All." in (repository / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("version", ["1", "v1.2.3", "1.2.3rc1", ""])
def test_a_version_in_another_form_is_refused(version: str, capsys: pytest.CaptureFixture[str]):
    assert release.main([version, "--dry-run"]) == 1
    assert "write it as 1.2.3" in capsys.readouterr().err


@pytest.mark.timeout(600)
def test_a_dry_run_builds_the_packages_and_changes_no_file():
    files = [ROOT / name for name in (*release.VERSION_LINES, "CHANGELOG.md")]
    before = git(ROOT, "tag"), [file.read_text() for file in files]
    argv = [sys.executable, "-m", "tools.release", VERSION, "--dry-run"]
    ran = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    wheel, plugin = f"lsp_harness-{VERSION}-py3-none-any.whl", f"lsp-harness.nvim-{VERSION}.tar.gz"
    built = {line.split(" ")[0] for line in ran.stdout.splitlines() if line.startswith("dist/")}
    assert built >= {f"dist/{name}" for name in (wheel, f"lsp_harness-{VERSION}.tar.gz", plugin, "SHA256SUMS")}
    assert f"{wheel} was installed alone, says version {VERSION}, and its server answered in" in ran.stdout
    assert f"{plugin} was unpacked as a package of Neovim" in ran.stdout
    assert f"tag v{VERSION} are made" in ran.stdout
    assert (git(ROOT, "tag"), [file.read_text() for file in files]) == before
    if "left out" in ran.stdout:
        pytest.skip(next(line for line in ran.stdout.splitlines() if line.startswith("left out")))
