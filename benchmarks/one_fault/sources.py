"""The places of real code on this machine: installed packages, and the folders that ONE_FAULT_SOURCES names.

A folder is searched like the root of a file system, so that packages may be unpacked there and need not be installed.
Nothing that is found is ever written into the repository.
"""

import os
import re
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

VARIABLE = "ONE_FAULT_SOURCES"
LINES = range(20, 251)
WIDEST = 160
"""Characters of a line that people write."""
SUFFIXES = {
    "python": ".py",
    "javascript": ".js",
    "typescript": ".ts",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "csharp": ".cs",
    "php": ".php",
    "ruby": ".rb",
}
PLACES: dict[str, tuple[str, ...]] = {
    "python": (),
    "javascript": ("usr/lib/node_modules/npm/lib", "usr/lib/node_modules/npm/node_modules/*", "*/package"),
    "typescript": ("*/package",),
    "go": ("usr/share/gocode/src/*/*/*", "usr/share/go-*/src/*", "usr/lib/go-*/src/*", "usr/local/go/src/*"),
    "rust": ("usr/share/cargo/registry/*", "root/.cargo/registry/src/*/*"),
    "java": ("usr/lib/jvm/*/lib/src.zip", "*"),
    "csharp": ("*",),
    "php": ("usr/share/php/*/*", "usr/share/php/*"),
    "ruby": ("usr/share/rubygems-integration/all/gems/*", "usr/lib/ruby/*", "usr/lib/ruby/gems/*/gems/*"),
}
"""Folders of projects below a root, or archives of modules. `*` alone is for the named folders only."""
BUILT = re.compile(
    r"(^|/)(dist|build|esm|cjs|umd|_cjs|_esm|_types|min|node_modules|vendor|test_?data|fixtures|lib2to3|idlelib)(/|$)"
    r"|\.d\.ts$|\.min\.js$|(^|/)__init__\.py$|_pb2\.py$|\.pb\.go$|(^|/)z[a-z]*_|AssemblyInfo|\.Designer\.cs"
)
"""Paths of what no hand has written, or what is broken on purpose."""
GENERATED = re.compile(rb"(?i)@generated|do not edit|auto-?generated|__esModule|sourceMappingURL")
JDK = ("java.base", "java.logging", "java.net.http", "java.sql", "java.xml", "jdk.compiler", "jdk.httpserver")


@dataclass(frozen=True, slots=True)
class Source:
    """A file of real code."""

    project: str
    path: str
    data: bytes


def read_roots() -> list[Path]:
    """Return the additional folders to search."""
    return [Path(one) for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one]


def find_sources(language: str, rng: Random) -> Iterator[Source]:
    """Yield files of a language, one project after another; equal seeds give equal orders."""
    waiting = [(name, rng.sample(files, len(files))) for name, files in sorted(_find_projects(language).items())]
    rng.shuffle(waiting)
    seen: set[bytes] = set()
    while waiting:
        for name, files in list(waiting):
            while files:
                count_files = _read(name, files.pop())
                if count_files and count_files.data not in seen:
                    seen.add(count_files.data)
                    yield count_files
                    break
        waiting = [(name, files) for name, files in waiting if files]


def count_files(language: str) -> dict[str, int]:
    """Return the number of files of each project, of any length."""
    return {name: len(files) for name, files in sorted(_find_projects(language).items())}


File = tuple[Path, str]
"""A file, or an archive and the name in it."""


def _find_projects(language: str) -> dict[str, list[File]]:
    projects: dict[str, list[File]] = {}
    for name, folder in _find_folders(language):
        files = _read_archive(folder, language) if folder.suffix == ".zip" else _find_files(folder, SUFFIXES[language])
        for project, file in files:
            projects.setdefault(f"{name}/{project}" if project else name, []).append(file)
    return projects


def _find_folders(language: str) -> Iterator[tuple[str, Path]]:
    if language == "python":
        yield "python", Path(sysconfig.get_path("stdlib"))
        for folder in sorted(Path(sysconfig.get_path("purelib")).iterdir()):
            if folder.is_dir() and re.fullmatch(r"[a-z]\w+", folder.name):
                yield folder.name, folder
        return
    paths: set[Path] = set()
    for root in (Path("/"), *read_roots()):
        for place in PLACES[language]:
            if place.startswith("*") and root == Path("/"):
                continue
            for folder in sorted(root.glob(place)):
                if folder.resolve() not in paths and (folder.is_dir() or folder.suffix == ".zip"):
                    paths.add(folder.resolve())
                    yield folder.parent.name if folder.name in ("package", "src.zip") else folder.name, folder


def _find_files(folder: Path, suffix: str) -> Iterator[tuple[str, File]]:
    for here, folders, names in os.walk(folder):
        inside = Path(here).relative_to(folder)
        folders[:] = sorted(one for one in folders if one != "site-packages" and not BUILT.search(str(inside / one)))
        for name in sorted(names):
            if name.endswith(suffix) and not BUILT.search(str(inside / name)):
                yield "", (Path(here) / name, "")


def _read_archive(archive: Path, language: str) -> Iterator[tuple[str, File]]:
    for name in sorted(_open_archive(archive).namelist()):
        module = name.partition("/")[0]
        if name.endswith(SUFFIXES[language]) and module in JDK:
            yield module, (archive, name)


@cache
def _open_archive(archive: Path) -> zipfile.ZipFile:
    # to read the list of its files takes as long as to read some hundreds of them
    return zipfile.ZipFile(archive)


def _read(project: str, file: File) -> Source | None:
    """Read a file of an ordinary size, or return None if it cannot be read."""
    where, inside = file
    data = _open_archive(where).read(inside) if inside else where.read_bytes()
    lines = data.split(b"\n")
    if len(lines) not in LINES or max(map(len, lines)) > WIDEST or GENERATED.search(data):
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    # a library of functions is wanted, not a table of names
    return Source(project, (inside or where.name).rpartition("/")[2], data) if data.count(b"(") > 8 else None
