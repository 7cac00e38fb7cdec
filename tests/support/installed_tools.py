"""The type checkers and linters of other languages, for the tests that run them on real projects.

They are looked for beside this interpreter, on PATH, in `~/.cargo/bin`, and in the folder that
`LSP_HARNESS_TEST_TOOLS` names (with `bin` and `node_modules`). Packages of npm are installed into a folder of the
user's cache once, if npm and a registry answer.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from lsp_harness.process.tool_run import find_tool
from tests.support.programs import find_program_problem

TOOLS = Path(os.environ.get("LSP_HARNESS_TEST_TOOLS", Path.home() / ".cache" / "lsp-harness-test-tools"))
FOLDERS = [str(TOOLS / "bin"), str(Path.home() / ".cargo" / "bin")]
NPM_PACKAGES = ("typescript@5", "eslint@9")
NPM_LIMIT_S = 240


def need_program(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let a program be found by its name, or skip the test if it is not there or does not run."""
    monkeypatch.setenv("PATH", os.pathsep.join([os.environ["PATH"], *FOLDERS]))
    program = find_tool(name)
    if not program:
        pytest.skip(f"{name} is not installed (neither on PATH nor in {', '.join(FOLDERS)})")
    if problem := find_program_problem(program):
        pytest.skip(problem)
    return program


def need_node_modules(project: Path) -> None:
    """Give a project the packages of npm, or skip the test."""
    folder = _install_tools()
    if folder is None:
        pytest.skip(f"npm cannot install {' and '.join(NPM_PACKAGES)} into {TOOLS}")
    (project / "node_modules").symlink_to(folder)


@cache
def _install_tools() -> Path | None:
    folder, npm = TOOLS / "node_modules", shutil.which("npm")
    wanted = [folder / name.partition("@")[0] / "package.json" for name in NPM_PACKAGES]
    if all(file.is_file() for file in wanted):
        return folder
    if not npm:
        return None
    TOOLS.mkdir(parents=True, exist_ok=True)
    (TOOLS / "package.json").write_text("{}")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", *NPM_PACKAGES]
    try:
        subprocess.run(command, cwd=TOOLS, check=True, capture_output=True, timeout=NPM_LIMIT_S)
    except (OSError, subprocess.SubprocessError):
        return None
    return folder if all(file.is_file() for file in wanted) else None
