"""Release of a version: `python -m tools.release VERSION [--dry-run]`.

It writes the version and the changelog, builds the files of the release into `dist/` (`tools/release_files.py`),
installs each of them (`tools/release_trials.py`), commits and tags. It pushes and uploads nothing. A dry run does all
of it in a temporary clone.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import Version

from tools.release_files import EXTENSION, KINDS, ROOT, VENDOR, ReleaseError, build_files, run
from tools.release_trials import try_files

BRANCH = "main"
GREEN_MARK = Path(".venv", ".green")
"""The file in which `.ci/run` keeps the commit whose tests have passed."""
VERSION_LINES: dict[str, tuple[str, str, int]] = {
    "pyproject.toml": (r'^version = "[^"]*"', 'version = "{}"', 1),
    "lsp_harness/wire/version.py": (r'^VERSION = "[^"]*"', 'VERSION = "{}"', 1),
    "editors/vscode/package.json": (r'^  "version": "[^"]*"', '  "version": "{}"', 1),
    # of the package, and of the package in the list of all packages
    "editors/vscode/package-lock.json": (r'^(  |      )"version": "[^"]*"', r'\1"version": "{}"', 2),
}
"""Path of each file with the version → pattern, replacement, and how often it is there."""


def list_fragments(root: Path) -> list[Path]:
    return sorted(path for path in (root / "changelog.d").glob("*.md") if path.name != "README.md")


def unreleased_heading(version: str) -> str:
    return f"## {version} - unreleased"


def find_problems(root: Path, version: str) -> list[str]:
    """Return why this version must not be released from this state of the repository."""
    problems: list[str] = []
    if run(root, "git", "status", "--porcelain"):
        problems.append("the working tree is not clean: commit or remove the changes")
    if (branch := run(root, "git", "branch", "--show-current")) != BRANCH:
        problems.append(f"the branch is {branch or 'none'}, not {BRANCH}")
    tags = [tag.removeprefix("v") for tag in run(root, "git", "tag", "--list", "v[0-9]*").splitlines()]
    if newer := [tag for tag in tags if Version(tag) >= Version(version)]:
        problems.append(f"there is a tag for {newer[-1]} already: take a newer version")
    mark = root / GREEN_MARK
    if not mark.is_file() or mark.read_text(encoding="utf-8").strip() != run(root, "git", "rev-parse", "HEAD"):
        problems.append("the tests have not passed for this commit: run .ci/run")
    if not (root / EXTENSION / "node_modules").is_dir():
        problems.append("the node modules of the extension are missing: run .ci/editors.sh")
    has_section = unreleased_heading(version) in (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if has_section and list_fragments(root):
        problems.append("CHANGELOG.md describes this version already: move the lines of changelog.d into it")
    if not has_section and not list_fragments(root):
        problems.append("changelog.d has no lines: a release without a change needs none")
    return problems


def write_version(root: Path, version: str) -> None:
    """Write the version into each file that has it."""
    for name, (pattern, replacement, count) in VERSION_LINES.items():
        path = root / name
        text, found = re.subn(
            pattern,
            replacement.format(version),
            path.read_text(encoding="utf-8"),
            count=count,
            flags=re.MULTILINE,
        )
        if found != count:
            raise ReleaseError(f"{name} has {found} lines with the version instead of {count}")
        path.write_text(text, encoding="utf-8")


def write_changelog(root: Path, version: str) -> None:
    """Give the section of this version its date, or make it from the lines of `changelog.d`."""
    path = root / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8")
    heading = unreleased_heading(version)
    if heading in text:
        path.write_text(text.replace(heading, f"## {version} - {date.today().isoformat()}", 1), encoding="utf-8")
    else:
        run(root, sys.executable, "-m", "towncrier", "build", "--yes", "--version", version)


def release(root: Path, version: str, say: Callable[[str], None], *, is_dry: bool) -> None:
    """Do all steps in the repository at `root`. A dry run leaves out what this machine has no files for."""
    write_version(root, version)
    write_changelog(root, version)
    run(root, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_tidy.py", "-k", "version")
    say(f"version {version} and its changelog are written")
    kinds = list(KINDS)
    if not is_dry:
        run(root, ".ci/xterm.sh")
    elif not (root / EXTENSION / "node_modules").exists():
        say("left out: the extension, because its node modules are missing: run .ci/editors.sh")
        kinds.remove("vscode")
    folder = root / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    files = build_files(root, folder, kinds, lambda line: say(line if line.startswith("left out") else f"dist/{line}"))
    try_files(files, version, say)
    person = ("-c", "user.name=dry run", "-c", "user.email=dry-run@localhost") if is_dry else ()
    run(root, "git", "add", "--update")
    run(root, "git", *person, "commit", "--quiet", "-m", f"Release {version}")
    run(root, "git", *person, "tag", "-a", f"v{version}", "-m", f"Release {version}")
    say(f"the commit and the tag v{version} are made")


def dry_run(root: Path, version: str, say: Callable[[str], None]) -> None:
    """Make the release of the last commit in a temporary clone, which is removed."""
    with TemporaryDirectory(prefix="lsp-harness-release-") as folder:
        clone = Path(folder) / "clone"
        run(root, "git", "clone", "--quiet", str(root), str(clone))
        if (root / VENDOR).is_dir():
            shutil.copytree(root / VENDOR, clone / VENDOR)
        if (root / EXTENSION / "node_modules").is_dir():
            (clone / EXTENSION / "node_modules").symlink_to(root / EXTENSION / "node_modules")
        release(clone, version, say, is_dry=True)
    say("this was a dry run: nothing was kept")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="Release a version.")
    parser.add_argument("version", help="the version, as 1.2.3")
    parser.add_argument("--dry-run", action="store_true", help="do it in a temporary clone, and keep nothing")
    options = parser.parse_args(arguments)
    try:
        if not re.fullmatch(r"\d+\.\d+\.\d+", options.version):
            raise ReleaseError(f"{options.version!r} is no version: write it as 1.2.3")
        problems = find_problems(ROOT, options.version)
        if options.dry_run:
            for problem in problems:
                print(f"a release would be refused: {problem}")
            dry_run(ROOT, options.version, print)
        elif problems:
            raise ReleaseError("\n".join(problems))
        else:
            release(ROOT, options.version, print, is_dry=False)
            print(f"publish it: git push origin {BRANCH} v{options.version}, and upload the files in dist/")
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
