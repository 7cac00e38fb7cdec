"""Tests of running the tests of a project on proposed texts, without a change of the project."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lsp_harness.process.sandbox.bubblewrap import Bubblewrap
from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox import NoSandbox, Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, run_tests
from lsp_harness.verify.project_tests.project_overlay import TooLargeError, copy_project
from lsp_harness.verify.project_tests.runner_registry import find_runner
from lsp_harness.verify.project_tests.suite_runner import Selection, SuiteRunner

pytestmark = pytest.mark.process

FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
    "config.py": "def parse(text):\n    return text.split('=')\n",
    "tests/test_config.py": (
        "from config import parse\n\n\n"
        "def test_parse():\n    assert parse('a=1') == ['a', '1']\n\n\n"
        "def test_old():\n    assert parse('') == []\n"
    ),
    "tests/test_other.py": "def test_other():\n    pass\n",
    "tests/test_writing.py": (
        "from pathlib import Path\n\n\ndef test_write():\n    Path('out.txt').write_text('x')\n"
        "    from config import parse\n    assert parse('a=1')[1] == '1'\n"
    ),
}
BROKEN = b"def parse(text):\n    return [text]\n"


@pytest.fixture(params=[PrivateView, Bubblewrap, Landlock, NoSandbox], ids=lambda sandbox: sandbox.name)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found: Sandbox = request.param()
    if problem := found.find_problem():
        pytest.skip(f"{found.name} does not work here: {problem}")
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "project"


def read_texts(root: Path) -> Mapping[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


async def run(root: Path, sandbox: Sandbox, text: bytes | None, *files: str, **limits: float) -> SuiteRun:
    runner = find_runner(root, "config.py")
    assert runner is not None
    texts = {} if text is None else {root / "config.py": text}
    choice = SuiteChoice(files, limits=ResourceLimits(**limits))  # type: ignore[arg-type]
    return await run_tests(runner, root, texts, choice, sandbox)


async def test_tests_run_on_the_proposed_text(root: Path, sandbox: Sandbox) -> None:
    before = await run(root, sandbox, None, "tests/test_config.py")
    assert before.is_complete
    assert before.digest.failing_tests == {"test_old"}
    after = await run(root, sandbox, BROKEN, "tests/test_config.py")
    assert after.digest.failing_tests == {"test_old", "test_parse"}
    assert read_texts(root) == FILES


async def test_names_of_tests_are_the_same_in_each_run(root: Path, sandbox: Sandbox) -> None:
    # vitest reports the absolute path of each file, and a copy of the project has another one in each run
    code = """
import json, os, sys
case = {"title": "adds", "fullName": "adds", "status": "passed"}
file = os.path.join(os.getcwd(), "sum.test.js")
with open(sys.argv[1], "w") as report:
    json.dump({"numPassedTests": 1, "testResults": [{"name": file, "assertionResults": [case]}]}, report)
"""

    def command(selection: Selection) -> list[str]:
        return [sys.executable, "-c", code, str(selection.report)]

    (root / "sum.test.js").write_text("")
    programs = (Path(sys.prefix), Path(sys.base_prefix))
    runner = SuiteRunner("vitest", "package.json", (".js",), command, programs)
    texts = {root / "sum.js": b"1"}
    runs = [await run_tests(runner, root, texts, SuiteChoice(("sum.test.js",)), sandbox) for _ in range(2)]
    assert [sorted(found.digest.passed_tests or ()) for found in runs] == [["sum.test.js::adds"]] * 2


async def test_tests_that_write_do_not_change_the_project(root: Path, sandbox: Sandbox) -> None:
    passed = await run(root, sandbox, None, "tests/test_writing.py")
    assert (passed.is_on_copy, passed.digest.passed, passed.digest.failed) == (not sandbox.has_overlays, 1, 0)
    failed = await run(root, sandbox, BROKEN, "tests/test_writing.py")
    assert failed.digest.failing_tests == {"test_write"}
    assert read_texts(root) == FILES


async def test_a_run_without_an_end_is_not_complete(root: Path, sandbox: Sandbox) -> None:
    endless = b"while True: pass\n"
    result = await run(root, sandbox, endless, "tests/test_config.py", wall_s=1.0)
    assert (result.result.end, result.is_complete) == ("timeout", False)


async def test_a_pipe_in_the_place_of_the_report_is_not_read(root: Path, sandbox: Sandbox) -> None:
    make_pipe = "import os, sys\nos.mkfifo(next(word for word in sys.argv if 'junitxml' in word).split('=')[1])\n"
    result = await run(root, sandbox, f"{make_pipe}while True: pass\n".encode(), "tests/test_config.py", wall_s=3.0)
    assert (result.result.end, result.is_complete) == ("timeout", False)


async def test_a_text_that_cannot_be_imported_is_a_failure(root: Path, sandbox: Sandbox) -> None:
    result = await run(root, sandbox, b"import nothing_of_this_name\n", "tests/test_config.py")
    assert result.digest.failed == 1
    assert "nothing_of_this_name" in str(result.digest.problems)


@pytest.mark.parametrize(
    ("files", "path", "name", "reason"),
    [
        ({"pytest.ini": ""}, "a.py", "pytest", "pytest.ini"),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, "a.py", "pytest", "pyproject.toml"),
        ({"tests/test_a.py": ""}, "a.py", "pytest", "tests/test_a.py"),
        ({"test_a.py": ""}, "a.py", "pytest", "test_a.py"),
        ({"a_test.py": ""}, "a.py", "pytest", "a_test.py"),
        ({"test/a_test.py": ""}, "a.py", "pytest", "test/a_test.py"),
        ({"pyproject.toml": "not toml ["}, "a.py", None, ""),
        ({"pytest.ini": ""}, "a.ts", None, ""),
        (
            {"package.json": '{"devDependencies": {"vitest": "1"}}', "node_modules/.bin/vitest": ""},
            "a.ts",
            "vitest",
            "package.json",
        ),
        ({"package.json": '{"devDependencies": {"jest": "1"}}'}, "a.ts", None, ""),
        ({"package.json": "[]"}, "a.js", None, ""),
    ],
)
def test_the_files_of_a_project_decide_its_runner(
    files: dict[str, str], path: str, name: str | None, reason: str, tmp_path: Path
) -> None:
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    runner = find_runner(tmp_path, path)
    assert (runner.name if runner else None) == name
    assert (runner.reason if runner else "") == reason


def test_the_environment_of_a_project_is_used(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").touch()
    environment = tmp_path / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    package = environment / "lib" / "python3.11" / "site-packages" / "pytest"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    runner = find_runner(tmp_path, "a.py")
    assert runner is not None
    assert environment in runner.programs


def test_a_copy_leaves_out_ignored_files(root: Path, tmp_path: Path) -> None:
    (root / ".gitignore").write_text("build/\n")
    (root / "build").mkdir()
    (root / "build" / "big.bin").write_text("x")
    (root / "node_modules").mkdir()
    copy_project(root, tmp_path / "copy")
    copied = {path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*.py")}
    assert copied == {name for name in FILES if name.endswith(".py")}
    assert not (tmp_path / "copy" / "build").exists()
    assert (tmp_path / "copy" / "node_modules").is_symlink()


def test_a_project_that_is_too_large_is_not_copied(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_harness.verify.project_tests.project_overlay.MAX_FILES", 2)
    with pytest.raises(TooLargeError, match="more than 2 files"):
        copy_project(root, tmp_path / "copy")


async def test_a_file_of_an_installed_package_is_not_written_through_the_link_of_the_copy(root: Path) -> None:
    package = root / ".venv" / "config.py"
    package.parent.mkdir()
    package.write_text("installed\n")
    (root / ".venv" / "pyvenv.cfg").touch()
    runner = find_runner(root, "config.py")
    assert runner
    with pytest.raises(OSError, match="installed packages"):
        await run_tests(runner, root, {package: BROKEN}, SuiteChoice(), NoSandbox())
    assert package.read_text() == "installed\n"
