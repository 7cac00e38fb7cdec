"""The wheel, installed alone in an empty environment: help, a handshake and one completion by the real model."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from lsp_harness.cli.command_table import ALL_GROUPS
from lsp_harness.cli.lsp_client import LspClient
from lsp_harness.config.schema import ModelSettings
from lsp_harness.errors import EngineError, HarnessError, UsageError
from lsp_harness.inference.models.model_files import resolve_model
from tests.test_tidy import PROJECT, ROOT
from tools.release_files import find_wheel_faults


@pytest.fixture(scope="module")
def terminal_problem() -> str:
    """Copy the terminal of the inspector into the package, and return why that was not possible."""
    done = subprocess.run([".ci/xterm.sh"], cwd=ROOT, capture_output=True, text=True, check=False)
    return f"`make xterm` failed: {(done.stdout + done.stderr).strip()[-300:]}" if done.returncode else ""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, terminal_problem: str) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(argv, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


def install(wheel: Path, folder: Path, extra: str = "") -> Path:
    """Return `lsp-harness` of a new environment with nothing but the wheel and what it and the extra require."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}{extra}"], check=True, capture_output=True)
    return folder / "bin" / "lsp-harness"


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`lsp-harness` without any extra."""
    return install(wheel, tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def whole_program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`lsp-harness` with all extras."""
    return install(wheel, tmp_path_factory.mktemp("whole"), "[all]")


def make_outside_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}


def test_the_wheel_carries_queries_grammars_models_and_types(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "lsp_harness/grammars/gbnf/code_block.gbnf",
        "lsp_harness/grammars/queries/python/outline.scm",
        "lsp_harness/inference/libraries/catalogue.toml",
        "lsp_harness/inference/models/catalogue.toml",
        "lsp_harness/cli/sample/stats.py.txt",
        "lsp_harness/py.typed",
        "lsp_harness/sdk/__init__.py",
    }
    assert wanted <= names
    outside = {name for name in names if not name.startswith("lsp_harness/") and ".dist-info/" not in name}
    assert outside == {f"lsp_harness-{PROJECT['project']['version']}.data/data/share/man/man1/lsp-harness.1"}


def test_the_wheel_carries_the_terminal_of_the_inspector_and_its_licence(wheel: Path, terminal_problem: str):
    if terminal_problem:
        pytest.skip(terminal_problem)
    version = PROJECT["project"]["version"]
    assert find_wheel_faults(wheel, version) == []
    archive = zipfile.ZipFile(wheel)
    assert b"xterm.js" in archive.read(f"lsp_harness-{version}.dist-info/licenses/NOTICE")
    assert b"MIT" in archive.read(f"lsp_harness-{version}.dist-info/licenses/LICENSE")


@pytest.mark.timeout(600)
def test_the_program_starts_each_command_without_the_repository(whole_program: Path, tmp_path: Path):
    names = sorted(row.name for rows in ALL_GROUPS.values() for row in rows if not row.is_measurement)
    code = "import sys; from lsp_harness.cli.command_table import app; [app[name] for name in sys.argv[1:]]"
    argv = [whole_program.parent / "python", "-c", code, *names]
    ran = subprocess.run(
        argv, check=False, capture_output=True, text=True, cwd=tmp_path, env=make_outside_environment()
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.timeout(600)
def test_help_names_every_command(program: Path, tmp_path: Path):
    ran = subprocess.run(
        [program, "--help"], check=True, capture_output=True, text=True, cwd=tmp_path, env=make_outside_environment()
    )
    for command in ("serve", "complete", "fix", "model", "engine", "demo", "doctor"):
        assert command in ran.stdout


@pytest.mark.timeout(600)
def test_the_completion_of_a_shell_and_the_man_page_need_no_extra(program: Path, tmp_path: Path):
    argv = [program, "completion", "bash"]
    ran = subprocess.run(argv, check=True, capture_output=True, text=True, cwd=tmp_path, env=make_outside_environment())
    assert "complete -o bashdefault -o default -F _lsp_harness lsp-harness" in ran.stdout
    assert '"digest"' in ran.stdout
    assert '"bench"' not in ran.stdout, "only the repository has it"
    assert (program.parent.parent / "share" / "man" / "man1" / "lsp-harness.1").is_file()


@pytest.mark.timeout(600)
def test_the_sdk_needs_no_extra(program: Path, tmp_path: Path):
    code = (
        "import lsp_harness.sdk as sdk; print(*sdk.__all__); from lsp_harness.sdk import *; print(query, HarnessClient)"
    )
    argv = [program.parent / "python", "-c", code]
    ran = subprocess.run(argv, check=True, capture_output=True, text=True, cwd=tmp_path, env=make_outside_environment())
    assert "HarnessOptions" in ran.stdout


MAX_DISTRIBUTIONS = 18
"""Most packages that `pip install lsp-harness` brings, with itself; 13 of them are those of pygls and cyclopts."""


@pytest.mark.timeout(600)
def test_the_program_alone_needs_few_packages(program: Path):
    code = "from importlib.metadata import distributions; print(*{part.name for part in distributions()})"
    ran = subprocess.run([program.parent / "python", "-c", code], check=True, capture_output=True, text=True)
    assert len({*ran.stdout.split()} - {"pip", "setuptools"}) <= MAX_DISTRIBUTIONS


SENTENCES = {
    "complete a.py:1:1": "engine",
    "index embed": "engine",
    "api --port 0": "api",
    "serve --ws 127.0.0.1:0": "api",
    "mcp": "mcp",
    "acp": "acp",
}
"""Commands, and the extra that each one needs."""


@pytest.mark.timeout(600)
def test_a_command_without_its_extra_says_one_sentence(program: Path, home: Path, tmp_path: Path):
    (tmp_path / "a.py").write_text("def area(side):\n    return side\n")
    for command, extra in SENTENCES.items():
        ran = subprocess.run(
            [program, *command.split()],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            env=make_outside_environment(),
        )
        [sentence] = ran.stderr.splitlines()
        assert sentence.startswith("lsp-harness: this needs the package "), command
        assert sentence.endswith(f"; run: pip install 'lsp-harness[{extra}]'"), command
        assert ran.returncode in (UsageError.exit_code, EngineError.exit_code), command


@pytest.mark.timeout(600)
def test_search_checks_and_doctor_work_without_extras(program: Path, home: Path, tmp_path: Path):
    (tmp_path / "a.py").write_text("def area(side):\n    return sid\n")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [program, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=make_outside_environment(),
        )
        return done.stdout + done.stderr

    assert "def area(side):" in run("search", "area")
    assert "no syntax error" in run("fix", "a.py")
    assert "pip install 'lsp-harness[engine]'" in " ".join(run("doctor").split())
    assert "rm -rf x" in run("gate", "check", "ls; rm -rf x")


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_a_server_from_the_wheel_completes_a_line(whole_program: Path, home: Path, tmp_path: Path):
    try:
        resolve_model(ModelSettings().path)
    except HarnessError as error:
        pytest.skip(f"the default model is not here, and `make check` must not need it: {error.message}")
    source = "def add(a, b):\n    return "
    async with LspClient.start(tmp_path, str(whole_program), "serve", env=make_outside_environment()) as client:
        uri = client.open(tmp_path / "sum.py", source, "python")
        items = await client.inline_completion(uri, source)
    assert items
    assert items[0]["insertText"].strip()
