"""Writes generated projects to disk and runs their tests as their authors do, without lsp-harness."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.layouts.environments import EnvironmentCache
from benchmarks.layouts.layout import Layout, ProposedEdit

BARE_TIMEOUT_S = 120


def find_missing(layout: Layout) -> list[str]:
    """Return the programs that a layout needs and that are not on this machine."""
    return [name for name in layout.needs if not shutil.which(name)]


@dataclass(frozen=True, slots=True)
class BuiltLayout:
    """A layout on disk.

    Attributes:
        layout: The layout.
        root: The project.
        python: The interpreter of its first environment.
    """

    layout: Layout
    root: Path
    python: Path

    def run_bare(self) -> tuple[int, str]:
        """Run all tests of the project with its own command. Return the exit status and the output."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        env.pop("VIRTUAL_ENV", None)
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        argv = [word.format(python=self.python) for word in self.layout.bare]
        result = subprocess.run(
            argv,
            cwd=self.root / self.layout.folder,
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=BARE_TIMEOUT_S,
        )
        return result.returncode, result.stdout + result.stderr

    def find_disproof(self, edit: ProposedEdit | None) -> str:
        """Return why the expected verdict about an edit is wrong, by the project's own tests, or an empty text.

        The tests run on the edited file on disk, which is restored. Without an edit, the project must be right.
        """
        if edit is None:
            status, output = self.run_bare()
            return f"its own tests fail: {output[-800:]}" if status else ""
        file = self.root / edit.path
        present = file.read_text()
        try:
            file.write_text(edit.apply(present))
            status, output = self.run_bare()
        finally:
            file.write_text(present)
        fails = edit.kind in ("caught", "importer")
        if bool(status) == fails:
            return ""
        return f"{edit.kind}: its own tests end with status {status}: {output[-800:]}"


def build_layout(layout: Layout, place: Path, cache: EnvironmentCache) -> BuiltLayout:
    """Write a layout into a new folder of a place and return it.

    Raises:
        FailedInstallationError: Its packages cannot be installed.
    """
    root = place / layout.name / layout.project
    root.mkdir(parents=True)
    for base, files in ((root, layout.files), (root.parent, layout.outside)):
        for path, text in files.items():
            file = base / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    for path in layout.folders:
        (root / path).mkdir(parents=True)
    for path, target in layout.links.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)
    pythons = [cache.add_python(root, environment) for environment in layout.environments]
    if layout.node:
        cache.add_node(root, layout.node)
    if ".gitignore" in layout.files and shutil.which("git"):
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return BuiltLayout(layout, root, pythons[0] if pythons else Path(sys.executable))
