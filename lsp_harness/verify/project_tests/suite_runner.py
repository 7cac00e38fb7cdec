"""The description of a program that runs the tests of a project, and how such programs read their settings files."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError

MAX_SETTINGS_BYTES = 1 << 20


def read_settings_text(path: Path) -> str:
    """Return the text of a settings file, or an empty text."""
    try:
        return read_text(path, MAX_SETTINGS_BYTES)
    except FileError:
        return ""


def read_toml(path: Path) -> Mapping[str, Any]:
    """Return the tables of a TOML file, or nothing."""
    try:
        return tomllib.loads(read_settings_text(path))
    except tomllib.TOMLDecodeError:
        return {}


def read_json(path: Path) -> Mapping[str, Any]:
    """Return the object of a JSON file, or nothing."""
    try:
        return as_mapping(json.loads(read_settings_text(path) or "{}"))
    except ValueError:
        return {}


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or nothing if the value is something else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests of one run.

    Attributes:
        files: The test files, relative to the folder of the runner. If there are none, all tests run.
        report: A file in which the program may write a report. Its folder may hold other files.
        max_failures: The number of failed tests after which the run may end. 0 means that all tests run.
        is_in_place: Whether the program may write into the folder of the project, because nothing of that stays.
        records_lines: Whether the processes of Python begin with `line_evidence`.
    """

    files: Sequence[str]
    report: Path
    max_failures: int = 0
    is_in_place: bool = False
    records_lines: bool = False


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
        folder: The folder in which the program runs, relative to the workspace folder.
        patterns: Names of test files. A pattern without a slash is about the name, another one about the whole path.
        records_lines: Whether processes of Python can tell which lines they ran.
        has_own_tests: Returns whether a file that is no test file has tests in it, by its text.
        runs_all: Whether the program always runs all tests of its folder, whatever files are selected.
        program_note: The interpreter and why it was chosen, for reasons of skipped runs.
    """

    name: str
    reason: str
    suffixes: tuple[str, ...]
    command: Callable[[Selection], list[str]]
    programs: tuple[Path, ...] = ()
    env: Mapping[str, str] | None = None
    python: Path | None = None
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    patterns: tuple[str, ...] = ()
    records_lines: bool = False
    has_own_tests: Callable[[bytes], bool] = field(default=lambda text: False)
    runs_all: bool = False
    program_note: str = ""

    def can_run(self, path: str) -> bool:
        """Return whether this program runs the tests of a file, which is relative to the workspace folder."""
        return PurePosixPath(path).suffix in self.suffixes and PurePosixPath(path).is_relative_to(self.folder)

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is one of tests by its name. The path is relative to the workspace folder."""
        name = PurePosixPath(path).name
        return self.can_run(path) and any(
            fnmatchcase(path if "/" in pattern else name, pattern) for pattern in self.patterns
        )

    def relative(self, path: str) -> str:
        """Return a path as the program names it."""
        return PurePosixPath(path).relative_to(self.folder).as_posix()


def relative_folder(root: Path, folder: Path) -> PurePosixPath:
    """Return the folder of a project as `SuiteRunner.folder` names it.

    Args:
        root: The workspace folder.
        folder: A folder in it.
    """
    return PurePosixPath(folder.relative_to(root).as_posix())
