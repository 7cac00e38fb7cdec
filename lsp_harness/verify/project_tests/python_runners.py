"""The programs that run tests of Python: pytest, the one of Django, unittest and doctest."""

import configparser
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice, product
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import walk
from lsp_harness.knowledge.project_python import ProjectPython, find_project_folder, find_project_python
from lsp_harness.verify.project_tests import line_evidence
from lsp_harness.verify.project_tests.suite_runner import (
    Selection,
    SuiteRunner,
    as_mapping,
    read_settings_text,
    read_toml,
    relative_folder,
)

PYTHON_MARKS = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "manage.py",
    "Pipfile",
)
"""The files that the folder of a project of Python has."""
PYTEST_PATTERNS = ("test_*.py", "*_test.py")
"""The names of files that pytest looks for."""
PYTEST_FILES = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "conftest.py",
    "tests/conftest.py",
    "test/conftest.py",
)
PYTEST_SECTIONS = (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
UNITTEST_PATTERNS = ("test*.py", "*_test.py", "*_tests.py")
DJANGO_PATTERNS = ("tests.py", "test_*.py", "tests_*.py", "*_tests.py")
MAX_LISTED_TESTS = 100
MAX_WALKED_FILES = 5_000
"""Most files of a project that are looked at to find tests in unusual folders."""
CONTINUE = "--continue-on-collection-errors"
"""The option of pytest to run the tests of the other files if one cannot be imported."""
DOCTEST_OPTION = "--doctest-modules"
DOCTEST_GLOB_OPTION = "--doctest-glob"
PROMPT = re.compile(rb"^\s*>>> ", re.MULTILINE)
UNITTEST_WORDS = re.compile(rb"^\s*(?:import|from) unittest\b", re.MULTILINE)
WITHOUT_CACHE, WITHOUT_REPORT = "no:cacheprovider", "no:junitxml"


def find_python_runner(root: Path, file: Path, setting: str) -> SuiteRunner | None:
    """Return the program that runs the tests of the project of a Python file, or None.

    Args:
        root: The workspace folder.
        file: The file.
        setting: The value of the setting `knowledge.python`.
    """
    folder = find_project_folder(root, file, PYTHON_MARKS)
    finders = (_find_django, _find_pytest, _find_unittest, _find_doctest)
    return next((runner for find in finders if (runner := find(root, folder, file, setting))), None)


def pytest_options(report: Path, cache: Path, settings: str = "", *, records_lines: bool = False) -> list[str]:
    """Return options of pytest for a run whose result is read.

    Args:
        report: The file of the report. It names the file of each test (`xunit1`).
        cache: A new folder for the cache. The plug-in of the cache is needed by options such as `--ff`.
        settings: The options that the project has. If they take a plug-in away, its options are left out.
        records_lines: Whether the module `line_evidence` is there, and records lines.
    """
    options = ["-q", "--no-header", "--tb=short", CONTINUE]
    if WITHOUT_CACHE not in settings:
        options += ["-o", f"cache_dir={cache}"]
    if WITHOUT_REPORT in settings:
        # a later option takes the plug-in back
        options += ["-p", "junitxml"]
    if records_lines:
        options += ["-p", line_evidence.__name__.rpartition(".")[2]]
    return [*options, "-o", "junit_family=xunit1", f"--junitxml={report}"]


def read_pytest_options(folder: Path) -> dict[str, str]:
    """Return the options of pytest that the files of a project set, such as `addopts` and `python_files`."""
    for name in ("pytest.toml", ".pytest.toml"):
        if (folder / name).is_file():
            return _to_texts(as_mapping(read_toml(folder / name).get("pytest")))
    for name in ("pytest.ini", ".pytest.ini"):
        if (folder / name).is_file():
            # pytest looks no further, even if the file is empty
            return _read_section(folder / name, "pytest")
    tool = as_mapping(as_mapping(read_toml(folder / "pyproject.toml").get("tool")).get("pytest"))
    if options := as_mapping(tool.get("ini_options", tool)):
        return _to_texts(options)
    for name, section in PYTEST_SECTIONS:
        if found := _read_section(folder / name, section):
            return found
    return {}


def _to_texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: " ".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else str(value)
        for key, value in options.items()
    }


def _read_section(file: Path, section: str) -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    # as pytest reads them: `DJANGO_SETTINGS_MODULE` stays in capitals
    parser.optionxform = lambda optionstr: optionstr
    try:
        parser.read_string(read_settings_text(file))
    except configparser.Error:
        return {}
    return dict(parser[section]) if parser.has_section(section) else {}


def _find_pytest(root: Path, folder: Path, file: Path, setting: str) -> SuiteRunner | None:
    options = read_pytest_options(folder) or (read_pytest_options(root) if folder != root else {})
    reason = _find_pytest_reason(folder, options)
    python = find_project_python(root, file, setting, module="pytest")
    if not reason or not python.has_module("pytest"):
        return None
    added = options.get("addopts", "")
    patterns = _split(options.get("python_files", "")) or PYTEST_PATTERNS
    has_doctests = DOCTEST_OPTION in added
    documents = _list_document_patterns(options, relative_folder(root, folder))

    def command(selection: Selection) -> list[str]:
        chosen = pytest_options(
            selection.report, selection.report.with_name("cache"), added, records_lines=selection.records_lines
        )
        return [str(python.python), "-m", "pytest", *chosen, f"--maxfail={selection.max_failures}", *selection.files]

    return SuiteRunner(
        "pytest",
        reason,
        (".py", *dict.fromkeys(PurePosixPath(pattern).suffix for pattern in documents)),
        command,
        _python_folders(python),
        python=python.python,
        folder=relative_folder(root, folder),
        patterns=(*patterns, *documents, "conftest.py"),
        records_lines=True,
        has_own_tests=_has_examples if has_doctests else lambda text: False,
        program_note=_describe(python),
    )


def _list_document_patterns(options: Mapping[str, str], place: PurePosixPath) -> tuple[str, ...]:
    """Return the names of documents whose examples pytest runs, as `SuiteRunner.patterns`.

    Args:
        options: The options of pytest.
        place: The folder of the project, relative to the workspace folder.
    """
    words = _split(options.get("addopts", ""))
    globs = [
        word.partition("=")[2] or after
        for word, after in zip(words, (*words[1:], ""), strict=False)
        if word == DOCTEST_GLOB_OPTION or word.startswith(f"{DOCTEST_GLOB_OPTION}=")
    ]
    folders = _split(options.get("testpaths", ""))
    if not folders:
        return tuple(globs)
    bases = [PurePosixPath(place, folder).as_posix() for folder in folders]
    # a star is for folders, too
    return tuple(pattern for base, glob in product(bases, globs) for pattern in (f"{base}/{glob}", f"{base}/*/{glob}"))


def _find_pytest_reason(folder: Path, options: dict[str, str]) -> str:
    """Return the file or the folder by which a project tells that it uses pytest, or an empty text."""
    if reason := next((name for name in PYTEST_FILES if (folder / name).is_file()), ""):
        return reason
    if options or "pytest" in str(read_toml(folder / "pyproject.toml")):
        return "pyproject.toml" if (folder / "pyproject.toml").is_file() else "settings of pytest"
    found = next(_list_tests(folder, _split(options.get("python_files", "")) or PYTEST_PATTERNS), None)
    return found.relative_to(folder).as_posix() if found else ""


def _find_django(root: Path, folder: Path, file: Path, setting: str) -> SuiteRunner | None:
    if not (folder / "manage.py").is_file() or "DJANGO_SETTINGS_MODULE" in str(read_pytest_options(folder)):
        return None
    python = find_project_python(root, file, setting, module="django")
    if not python.has_module("django"):
        return None

    def command(selection: Selection) -> list[str]:
        labels = [_module_name(path) for path in selection.files]
        return [str(python.python), "manage.py", "test", "-v", "2", "--noinput", *labels]

    return _create("unittest", "manage.py", python, relative_folder(root, folder), command, DJANGO_PATTERNS)


def _find_unittest(root: Path, folder: Path, file: Path, setting: str) -> SuiteRunner | None:
    tests = [test for test in _list_tests(folder, UNITTEST_PATTERNS) if UNITTEST_WORDS.search(test.read_bytes())]
    if not tests:
        return None
    python = find_project_python(root, file, setting)

    def command(selection: Selection) -> list[str]:
        return [str(python.python), "-m", "unittest", "-v", *selection.files]

    reason = tests[0].relative_to(folder).as_posix()
    return _create("unittest", reason, python, relative_folder(root, folder), command, UNITTEST_PATTERNS)


def _find_doctest(root: Path, folder: Path, file: Path, setting: str) -> SuiteRunner | None:
    try:
        has_examples = _has_examples(file.read_bytes())
    except OSError:
        return None
    if not has_examples:
        return None
    python = find_project_python(root, file, setting, module="pytest")
    name = file.relative_to(folder).as_posix()
    if python.has_module("pytest"):

        def command(selection: Selection) -> list[str]:
            options = pytest_options(
                selection.report, selection.report.with_name("cache"), records_lines=selection.records_lines
            )
            return [str(python.python), "-m", "pytest", *options, DOCTEST_OPTION, *selection.files]
    else:

        def command(selection: Selection) -> list[str]:
            return [str(python.python), "-m", "doctest", "-v", *selection.files]

    tool = "pytest" if python.has_module("pytest") else "doctest"
    runner = _create(tool, f"examples in {name}", python, relative_folder(root, folder), command, ())
    return replace(runner, has_own_tests=_has_examples)


def _has_examples(text: bytes) -> bool:
    return bool(PROMPT.search(text))


def _create(
    name: str,
    reason: str,
    python: ProjectPython,
    folder: PurePosixPath,
    command: Callable[[Selection], list[str]],
    patterns: tuple[str, ...],
) -> SuiteRunner:
    return SuiteRunner(
        name,
        reason,
        (".py",),
        command,
        _python_folders(python),
        folder=folder,
        patterns=patterns,
        records_lines=True,
        program_note=_describe(python),
    )


def _list_tests(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    """Yield files with names of tests: in the usual folders, in the project and one level below, then in any folder."""
    seen: set[Path] = set()
    for place, pattern in product(("tests/", "test/", "", "[!.]*/"), patterns):
        for path in islice((path for path in folder.glob(place + pattern) if path.is_file()), MAX_LISTED_TESTS):
            seen.add(path)
            yield path
    for found in islice(walk(folder, IgnoreFiles()), MAX_WALKED_FILES):
        path = folder / found.path
        if path not in seen and any(fnmatchcase(path.name, pattern) for pattern in patterns):
            yield path


def _module_name(path: str) -> str:
    return PurePosixPath(path).with_suffix("").as_posix().replace("/", ".")


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


def _describe(python: ProjectPython) -> str:
    return f"{python.python} ({python.reason})"


def _python_folders(found: ProjectPython) -> tuple[Path, ...]:
    """Return the folders of an interpreter: its environment, and the installation that this one is made from."""
    python = found.python
    folders = {python.parent.parent, python.parent.parent.resolve(), python.resolve().parent.parent}
    if python == Path(sys.executable):
        folders |= {Path(sys.prefix), Path(sys.base_prefix)}
    return tuple(sorted(folders))
