"""The programs that run tests, found by the files of a project. A new one is a function and a row in the table."""

import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import ENVIRONMENT_FOLDERS
from lsp_harness.process.tool_run import find_tool

PYTEST_FOLDERS = ("tests", "test", "")
PYTEST_PATTERNS = ("test_*.py", "*_test.py")
"""The folders of a project in which test files show that it uses pytest, and the names that pytest looks for."""
PYTEST_FILES = ("pytest.ini", "conftest.py", "tests/conftest.py")
CONTINUE = "--continue-on-collection-errors"
"""The option of pytest to run the tests of the other files if one cannot be imported."""
NODE_FOLDER = Path("node_modules") / ".bin"
NODE_SUFFIXES = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs")
MAX_SETTINGS_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests of one run.

    Attributes:
        files: The test files, relative to the project. If there are none, all tests run.
        report: A file in which the program may write a report. Its folder may hold other files.
        max_failures: The number of failed tests after which the run may end. 0 means that all tests run.
    """

    files: Sequence[str]
    report: Path
    max_failures: int = 0


@dataclass(frozen=True, slots=True)
class SuiteRunner:
    """A program that runs the tests of one project.

    Attributes:
        name: The name of the tool whose output `verify.digest` reads.
        reason: The file of the project that tells that it uses this program.
        suffixes: Suffixes of the files whose tests it runs.
        command: Returns the command for a selection of tests.
        programs: Folders that the command needs although they may lie in a hidden folder.
        env: Variables of the environment.
        python: The interpreter, if it can run pytest in a warm process.
    """

    name: str
    reason: str
    suffixes: tuple[str, ...]
    command: Callable[["Selection"], list[str]]
    programs: tuple[Path, ...] = ()
    env: Mapping[str, str] | None = None
    python: Path | None = None

    def can_run(self, path: str) -> bool:
        """Return whether this program runs the tests of a file."""
        return PurePosixPath(path).suffix in self.suffixes


def find_runner(root: Path, path: str) -> SuiteRunner | None:
    """Return the program that runs the tests for a file of a project, or None.

    Args:
        root: The folder of the project.
        path: The file, relative to it.
    """
    runners = (find(root) for find in FINDERS)
    return next((runner for runner in runners if runner and runner.can_run(path)), None)


def _find_pytest(root: Path) -> SuiteRunner | None:
    reason = next((name for name in PYTEST_FILES if (root / name).is_file()), "")
    if not reason and "pytest" in str(_read_toml(root / "pyproject.toml")):
        reason = "pyproject.toml"
    if not reason:
        places = product(PYTEST_FOLDERS, PYTEST_PATTERNS)
        reason = next((folder or pattern for folder, pattern in places if any((root / folder).glob(pattern))), "")
    if not reason:
        return None
    python = _find_python(root)

    def command(selection: Selection) -> list[str]:
        options = ["-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={selection.report}"]
        limit = f"--maxfail={selection.max_failures}"
        return [str(python), "-m", "pytest", *options, CONTINUE, limit, *selection.files]

    return SuiteRunner("pytest", reason, (".py",), command, _python_folders(python), python=python)


def _find_python(root: Path) -> Path:
    """Return the interpreter of a project, or else the one that runs this program."""
    folders = [root / name for name in ENVIRONMENT_FOLDERS]
    if environment := os.environ.get("VIRTUAL_ENV"):
        folders.append(Path(environment))
    for folder in folders:
        python = folder / "bin" / "python"
        if python.exists() and any(folder.glob("lib/python3*/site-packages/pytest/__init__.py")):
            return python
    return Path(sys.executable)


def _python_folders(python: Path) -> tuple[Path, ...]:
    """Return the folders of an interpreter: its environment, and the installation that this one is made from."""
    folders = {python.parent.parent, python.resolve().parent.parent}
    if python == Path(sys.executable):
        folders |= {Path(sys.prefix), Path(sys.base_prefix)}
    return tuple(sorted(folders))


def _find_go(root: Path) -> SuiteRunner | None:
    go = find_tool("go")
    if not (root / "go.mod").is_file() or not go:
        return None

    def command(selection: Selection) -> list[str]:
        folders = sorted({f"./{PurePosixPath(file).parent}" for file in selection.files})
        # without -v the tests that pass are not named
        return [go, "test", "-v", *(["-failfast"] if selection.max_failures == 1 else []), *(folders or ["./..."])]

    caches = {"GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    return SuiteRunner(
        "go", "go.mod", (".go",), command, (Path(go).resolve().parent.parent, Path.home() / "go"), caches
    )


def _find_cargo(root: Path) -> SuiteRunner | None:
    cargo = find_tool("cargo")
    if not (root / "Cargo.toml").is_file() or not cargo:
        return None

    def command(selection: Selection) -> list[str]:
        # unit tests are within the sources, and a file in `tests` is a target of its own
        in_tests = [PurePosixPath(file) for file in selection.files if PurePosixPath(file).parent.name == "tests"]
        chosen = [option for path in in_tests for option in ("--test", path.stem)]
        only_targets = chosen if len(in_tests) == len(selection.files) else []
        return [cargo, "test", "--offline", "--target-dir", str(selection.report.parent / "target"), *only_targets]

    homes = (Path.home() / ".cargo", Path.home() / ".rustup", Path(cargo).resolve().parent.parent)
    return SuiteRunner("cargo", "Cargo.toml", (".rs",), command, homes)


NODE_RUNNERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "vitest": (("run", "--no-cache"), "--bail={}"),
    "jest": (("--no-cache", "--ci"), "--bail={}"),
    "mocha": ((), "--bail"),
}
"""Name of a program in `node_modules/.bin` → its options, and the one that ends the run after some failures."""


def _find_node(root: Path) -> SuiteRunner | None:
    settings = _read_json(root / "package.json")
    used = {**_mapping(settings.get("devDependencies")), **_mapping(settings.get("dependencies"))}
    name = next((name for name in NODE_RUNNERS if name in used and (root / NODE_FOLDER / name).exists()), "")
    if name:
        program, (options, bail) = str(root / NODE_FOLDER / name), NODE_RUNNERS[name]

        def command(selection: Selection) -> list[str]:
            limit = [bail.format(selection.max_failures)] if selection.max_failures else []
            return [program, *options, *limit, *selection.files]

        return SuiteRunner(name, "package.json", NODE_SUFFIXES, command)
    node = find_tool("node")
    if node and "node --test" in str(_mapping(settings.get("scripts")).get("test", "")):
        return SuiteRunner("node", "package.json", NODE_SUFFIXES, lambda selection: [node, "--test", *selection.files])
    return None


FINDERS: tuple[Callable[[Path], SuiteRunner | None], ...] = (_find_pytest, _find_go, _find_cargo, _find_node)
"""The functions that look for each program."""


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _read_toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_read_text(path))
    except tomllib.TOMLDecodeError:
        return {}


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(_read_text(path) or "{}"))
    except ValueError:
        return {}


def _read_text(path: Path) -> str:
    try:
        return read_text(path, MAX_SETTINGS_BYTES)
    except FileError:
        return ""
