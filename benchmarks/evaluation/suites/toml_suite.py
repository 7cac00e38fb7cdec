"""Reads a suite of tasks that a project keeps for itself, as a TOML file.

[[tasks]]
name = "unknown-name"
kind = "fix"                       # fix, edit, generate or prompt
text = "the tests of area fail"
target = "geo.py"
line = 4                           # optional
files = { "geo.py" = "…", "test_geo.py" = "…" }
fixture = "fixtures/geo"           # or a folder beside the suite
tests = ["test_geo.py"]            # visible tests
check = ["{python}", "-m", "pytest", "-q", "test_hidden.py"]
check_files = { "test_hidden.py" = "…" }
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

from benchmarks.evaluation.suites.eval_task import EvalTask, Suite, TaskKind
from benchmarks.evaluation.suites.hidden_check import DEFAULT_LIMIT_S, CommandCheck
from lsp_harness.config.setting_values import convert_value
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError, UsageError
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import SkippedFile, walk

REQUIRED = ("name", "kind", "text", "target", "check")
OPTIONAL = ("line", "files", "fixture", "tests", "check_files", "check_limit_s", "weakness", "without")
KEYS = (*REQUIRED, *OPTIONAL)


def read_toml_suite(file: Path) -> Suite:
    """Return the tasks of a TOML file.

    Raises:
        UsageError: The file cannot be read, or one of its values is not valid.
    """
    try:
        content: dict[str, Any] = tomllib.loads(read_text(file))
    except FileError as error:
        raise UsageError(error.message) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is not valid TOML: {error}") from error
    rows = content.get("tasks")
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"{file} has no task; write one as [[tasks]]")
    tasks = [_create_task(file, number, row) for number, row in enumerate(cast("list[Any]", rows), 1)]
    names = [task.id for task in tasks]
    if repeated := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"{file}: two tasks have the name {repeated!r}")
    return Suite(file.stem, tuple(tasks))


def _create_task(file: Path, number: int, row: object) -> EvalTask:
    if not isinstance(row, dict):
        raise UsageError(f"{file}: task {number} must be a table")
    values = _Values(cast("dict[str, Any]", row), f"{file}: task {number}")
    values.check_keys()
    kind, target = values.text("kind"), values.text("target")
    if kind not in get_args(TaskKind):
        raise UsageError(f"{values.place}: kind must be {', '.join(get_args(TaskKind))}, not {kind!r}")
    fixture = values.text("fixture", "")
    files = {**(_read_fixture(file.parent / fixture, values.place) if fixture else {}), **values.texts("files")}
    for path in (target, *values.words("tests")):
        if path not in files:
            raise UsageError(f"{values.place}: {path} is none of its files: {', '.join(files) or 'there are none'}")
    limit_s = float(values.number("check_limit_s", int(DEFAULT_LIMIT_S)))
    check = CommandCheck({**files, **values.texts("check_files")}, values.words("check"), (), limit_s)
    tests = values.words("tests")
    return EvalTask(
        id=values.text("name"),
        suite=file.stem,
        kind=cast("TaskKind", kind),
        files=files,
        target=target,
        text=values.text("text"),
        check=check,
        line=values.number("line", 0),
        tests=tests,
        gate="given" if tests else "",
        weakness=values.text("weakness", ""),
        without=values.words("without"),
    )


def _read_fixture(folder: Path, place: str) -> dict[str, str]:
    if not folder.is_dir():
        raise UsageError(f"{place}: the fixture {folder} is not a folder")
    try:
        return {
            entry.path: (folder / entry.path).read_text(encoding="utf-8")
            for entry in walk(folder, IgnoreFiles())
            if not isinstance(entry, SkippedFile)
        }
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{place}: the fixture {folder} cannot be read ({error})") from error


class _Values:
    """The values of one table, with errors that name it."""

    def __init__(self, row: Mapping[str, Any], place: str) -> None:
        self._row = row
        self.place = place

    def check_keys(self) -> None:
        """Raise UsageError for a key that is missing or unknown."""
        for key in REQUIRED:
            if key not in self._row:
                raise UsageError(f"{self.place} has no {key}; it needs {', '.join(REQUIRED)}")
        for key in self._row:
            if key not in KEYS:
                raise UsageError(f"{self.place} has an unknown key {key!r}; the keys are {', '.join(KEYS)}")

    def text(self, key: str, default: str | None = None) -> str:
        return str(self._convert(str, key, default))

    def number(self, key: str, default: int) -> int:
        return int(self._convert(int, key, default))

    def words(self, key: str) -> tuple[str, ...]:
        value = self._row.get(key, ())
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in cast("list[Any]", value)):
            raise UsageError(f"{self.place}: {key} must be a list of texts")
        return tuple(cast("list[str]", value))

    def texts(self, key: str) -> dict[str, str]:
        value = self._row.get(key, {})
        pairs = cast("dict[str, Any]", value) if isinstance(value, dict) else None
        if pairs is None or not all(isinstance(text, str) for text in pairs.values()):
            raise UsageError(f"{self.place}: {key} must be a table of paths and texts")
        return cast("dict[str, str]", pairs)

    def _convert(self, kind: type, key: str, default: Any) -> Any:
        value = convert_value(kind, self._row.get(key, default), has_text_values=False)
        if value is None:
            raise UsageError(f"{self.place}: {key} must be a {'text' if kind is str else 'number'}")
        return value
