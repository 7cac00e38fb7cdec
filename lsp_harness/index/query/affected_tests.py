"""The test files that a change of a file can break, with the reason for each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.index_view import IndexView

CONFTEST = "conftest.py"
"""The file of fixtures of pytest."""
MAX_IMPORT_HOPS = 4
"""A longer chain of imports connects nearly everything in a project."""

MAX_USERS = 200
"""Number of files that use a changed one and of which some are checked with it."""


@dataclass(frozen=True, slots=True)
class AffectedTest:
    """A test file.

    Attributes:
        path: The path in the workspace folder.
        reason: Why the change can break it, such as "imports src/config.py".
        hops: The number of imports between the file and the change. 0 is the file itself or a file with its name.
    """

    path: str
    reason: str
    hops: int


def find_affected_tests(view: IndexView, path: str) -> list[AffectedTest]:
    """Return the test files that depend on a file, the closest first.

    A test file depends on a file if it is that file, has its name (`test_config.py` for `config.py`), or imports it,
    directly or through other files. All tests beside and below a `conftest.py` depend on it.

    Args:
        view: The index.
        path: The changed file, relative to its workspace folder.
    """
    found: dict[str, AffectedTest] = {}
    for test in (*_find_by_name(view, path), *_find_by_import(view, path)):
        if _is_conftest(test.path):
            for other in _find_tests_below(view, PurePosixPath(test.path).parent.as_posix().removeprefix(".")):
                found.setdefault(other, AffectedTest(other, f"{test.path}: {test.reason}", test.hops))
        else:
            found.setdefault(test.path, test)
    return sorted(found.values(), key=lambda test: (test.hops, test.path))


def find_users(view: IndexView, path: str, limit: int) -> list[str]:
    """Return the files that import a file, directly or through others, the nearest first.

    Args:
        view: The index.
        path: The file, relative to its workspace folder.
        limit: The number of files.
    """
    found, frontier = dict[str, None](), [path]
    for _ in range(MAX_IMPORT_HOPS):
        entries = [view.symbols.find_file(via) for via in frontier]
        importers = dict.fromkeys(
            importer for entry in entries if entry for importer in view.imports.find_importers(entry[0])
        )
        frontier = [importer for importer in importers if importer not in found and importer != path]
        found.update(dict.fromkeys(frontier))
        if len(found) >= limit or not frontier:
            break
    return [*found][:limit]


def _is_conftest(path: str) -> bool:
    return PurePosixPath(path).name == CONFTEST


def _find_tests_below(view: IndexView, folder: str) -> Iterator[str]:
    for path in view.symbols.find_paths_below(folder):
        if path.endswith(".py") and TEST_PATH.search(path) and not _is_conftest(path):
            yield path


def _find_by_name(view: IndexView, path: str) -> Iterator[AffectedTest]:
    changed = PurePosixPath(path)
    if TEST_PATH.search(path) or _is_conftest(path):
        yield AffectedTest(path, "is the changed file", 0)
        return
    stem = changed.stem
    for other in view.symbols.find_paths_named({f"test_{stem}", f"{stem}_test", f"{stem}.test", f"{stem}.spec"}):
        if PurePosixPath(other).suffix == changed.suffix:
            yield AffectedTest(other, f"has the name of {path}", 0)


def _find_by_import(view: IndexView, path: str) -> Iterator[AffectedTest]:
    visited, frontier = {path}, [path]
    for hops in range(1, MAX_IMPORT_HOPS + 1):
        following: list[str] = []
        for via in frontier:
            entry = view.symbols.find_file(via)
            for importer in view.imports.find_importers(entry[0]) if entry else ():
                if importer not in visited:
                    visited.add(importer)
                    following.append(importer)
                    if TEST_PATH.search(importer) or _is_conftest(importer):
                        reason = f"imports {path}" if hops == 1 else f"imports {path} through {via}"
                        yield AffectedTest(importer, reason, hops)
        frontier = following
