"""A workspace whose files have the names of modules that we import: no process of ours runs them."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.config.schema import Config, ModelSettings
from lsp_harness.harness.indexes.folder_index import FolderIndex
from lsp_harness.inference.client import EngineClient

NAMES = (
    "asyncio",
    "pathspec",
    "json",
    "llama_cpp",
    "lsp_harness",
    "multiprocessing",
    "signal",
    "tree_sitter",
    "uvicorn",
)
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.fixture
def workspace(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that is the current folder. Each of its modules would leave a file behind."""
    root = home / "ws"
    root.mkdir()
    for name in NAMES:
        (root / f"{name}.py").write_text(f"open({str(home / 'started-modules')!r}, 'a').write('{name} ')\n")
    monkeypatch.chdir(root)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return root


def run_modules(home: Path) -> str:
    """Return the names of the modules that were run."""
    return (home / "started-modules").read_text() if (home / "started-modules").exists() else ""


def test_a_plain_interpreter_would_run_the_modules_of_the_workspace(home: Path, workspace: Path):
    subprocess.run([sys.executable, "-c", "import pathspec"], check=False)
    assert run_modules(home) == "pathspec "


async def test_the_index_process_runs_no_module_of_the_workspace(home: Path, workspace: Path):
    ready = asyncio.Event()
    folder = FolderIndex(
        workspace, lambda _, message: ready.set() if message["state"] == "ready" else None, follow=False
    )
    await ready.wait()
    assert (await folder.query.contents("")).files == len(NAMES)
    await folder.aclose()
    assert run_modules(home) == ""


async def test_the_engine_runs_no_module_of_the_workspace(home: Path, workspace: Path, tiny_model: Path):
    engine = EngineClient(Config(model=ModelSettings(path=str(tiny_model))))
    assert await engine.count(["a b"])
    await engine.aclose()
    assert run_modules(home) == ""


def test_a_command_runs_no_module_of_the_workspace(home: Path, workspace: Path):
    command = Path(sys.executable).parent / "lsp-harness"
    result = subprocess.run(
        [command, "index", "rebuild"], env={**os.environ}, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, f"{len(NAMES)} files, {len(NAMES)} of them read\n")
    assert run_modules(home) == ""
