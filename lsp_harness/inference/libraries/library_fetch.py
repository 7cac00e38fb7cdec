"""The download of a prebuilt library. Afterwards its folder holds the right files, or it does not exist.

The package is read as data: it is never installed, and nothing in it is run before it is loaded by an engine. npm
downloads it if npm is there, else the registry is asked that npm is configured with.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

from lsp_harness.disk.file_lock import FileLock
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.disk.ownership import find_home
from lsp_harness.errors import FileError, LibraryError, PullFailed
from lsp_harness.inference.libraries.library_catalogue import LibraryCard
from lsp_harness.inference.libraries.library_choice import (
    RECORD_FILE,
    SELECTION_FILE,
    find_damage,
    libraries_folder,
    library_folder,
)
from lsp_harness.inference.models.model_sources import CHUNK_BYTES, LocalFile, download
from lsp_harness.inference.models.partial_file import PartialFile, fetch_and_check
from lsp_harness.inference.models.pull_report import MIB, PullReport, SilentReport

DEFAULT_REGISTRY = "https://registry.npmjs.org"
"""npm's own default."""
NPM_TIMEOUT_S = 300
LOCK_TIMEOUT_S = 600
SPARE_BYTES = 64 * MIB
UNPACKED_SHARE = 5
"""The files of a library take at most this many times the size of their package."""
LIBRARY_FILE = re.compile(r"(lib)?(ggml|llama)[\w.-]*\.(so|dylib|dll|metal)")
UNUSED_FILE = re.compile(r"(lib)?llama-(common|addon)")
"""Files for programs in JavaScript and for the programs of llama.cpp."""

Source = tuple[str, Callable[[LibraryCard, PartialFile], None]]


def fetch_library(card: LibraryCard, report: PullReport | None = None, package: Path | None = None) -> Path:
    """Download a prebuilt library if it is not here or is damaged, and return its folder.

    Args:
        card: The library.
        report: Receives the progress.
        package: A file with the package, which is used in place of a download.

    Raises:
        LibraryError: No source served the right package, or it cannot be stored.
    """
    folder, report = library_folder(card), report or SilentReport()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / ".lock").hold(LOCK_TIMEOUT_S):
            if folder.is_dir() and not find_damage(folder):
                return folder
            _check_room(folder.parent, card)
            part = PartialFile(folder.parent / card.package_file, card.bytes, report)
            _fetch_package(card, part, package)
            report.step("unpacking")
            try:
                _unpack(part.path, folder)
            finally:
                part.discard()
            return folder
    except BlockingIOError:
        raise LibraryError(
            f"another process has been storing a library in {folder.parent} for {LOCK_TIMEOUT_S} s; end it"
        ) from None
    except OSError as error:
        raise LibraryError(
            f"the library cannot be stored in {folder.parent}: {error.strerror or error}; set LSP_HARNESS_LIBRARIES to "
            "a folder of yours with some free space"
        ) from error


def fetch_package(card: LibraryCard, target: Path, report: PullReport) -> None:
    """Download the package of a prebuilt library into a file, for another machine.

    Args:
        card: The library.
        target: The file.
        report: Receives the progress.

    Raises:
        LibraryError: No source served the right package, or it cannot be stored.
    """
    part = PartialFile(target, card.bytes, report)
    try:
        _fetch_package(card, part, None)
        part.path.replace(target)
        part.discard()
    except OSError as error:
        raise LibraryError(f"{target} cannot be written: {error.strerror or error}") from error


def select_library(name: str) -> None:
    """Use a library from now on, without a setting.

    Args:
        name: The name; empty forgets the choice.

    Raises:
        LibraryError: The choice cannot be stored.
    """
    file = libraries_folder() / SELECTION_FILE
    try:
        if name:
            file.parent.mkdir(parents=True, exist_ok=True)
            remove_irregular_file(file).write_text(f"{name}\n")
        else:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise LibraryError(f"{file} cannot be written: {error.strerror or error}") from error


def remove_library(card: LibraryCard) -> int:
    """Remove the files of a prebuilt library, and return the number of bytes that were freed."""
    folder = library_folder(card)
    freed = sum(file.stat().st_size for file in folder.iterdir()) if folder.is_dir() else 0
    PartialFile(folder.parent / card.package_file, 0, SilentReport()).discard()
    try:
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        raise LibraryError(f"{folder} cannot be removed: {error.strerror or error}") from error
    return freed


def find_registry() -> str:
    """Return the address of the registry that npm is configured with, without asking npm."""
    # npm reads both, and sets the second one for its scripts
    for name in ("NPM_CONFIG_REGISTRY", "npm_config_registry"):
        if address := os.environ.get(name):
            return address.rstrip("/")
    home, lines = find_home(), list[str]()
    with suppress(FileError):
        lines = read_text(home / ".npmrc").splitlines() if home else lines
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "registry" and value.strip():
            return value.strip().strip('"').rstrip("/")
    return DEFAULT_REGISTRY


def _check_room(folder: Path, card: LibraryCard) -> None:
    free, needed = shutil.disk_usage(folder).free, card.bytes * (1 + UNPACKED_SHARE) + SPARE_BYTES
    if needed > free:
        raise LibraryError(
            f"{folder} has {free // MIB} MiB free, but {needed // MIB} are needed; free some space, or set "
            "LSP_HARNESS_LIBRARIES to another folder"
        )


def _list_sources(package: Path | None) -> Sequence[Source]:
    """Return the sources of a package, the best first."""
    if package:
        file = LocalFile(str(package))
        return [(str(package), lambda card, part: file.fetch(part))]
    return [*([("npm", _run_npm)] if shutil.which("npm") else []), ("the npm registry", _ask_registry)]


def _fetch_package(card: LibraryCard, part: PartialFile, package: Path | None) -> None:
    """Write a package with the right hash into `part`. Raise LibraryError with the reason of each source."""
    failures: list[str] = []
    for name, fetch in _list_sources(package):
        part.report.note(f"{card.package} {card.version} from {name}")
        try:
            fetch_and_check(partial(fetch, card), part, partial(_find_problem, card))
        except PullFailed as failure:
            failures.append(f"{name}: {failure.message}")
            part.report.note(failure.message)
            part.discard()
        else:
            return
    raise LibraryError(f"{card.package} {card.version} could not be had ({'; '.join(failures)})")


def _run_npm(card: LibraryCard, part: PartialFile) -> None:
    npm = shutil.which("npm") or "npm"
    shutil.rmtree(part.scratch, ignore_errors=True)
    part.scratch.mkdir(parents=True)
    try:
        flags = ("--silent", "--ignore-scripts", "--pack-destination", str(part.scratch))
        done = subprocess.run(
            [npm, "pack", f"{card.package}@{card.version}", *flags],
            # no settings of a project
            cwd=part.scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=NPM_TIMEOUT_S,
            check=False,
        )
        packages = list(part.scratch.glob("*.tgz"))
        if done.returncode or len(packages) != 1:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no package was written"]
            raise PullFailed(f"npm ended with {done.returncode}: {lines[0].removeprefix('npm error ')}")
        with open(packages[0], "rb") as file, part.append("npm", 0) as write:
            while chunk := file.read(CHUNK_BYTES):
                write(chunk)
    except subprocess.TimeoutExpired:
        raise PullFailed(f"npm did not end within {NPM_TIMEOUT_S} s") from None
    except OSError as error:
        if error.filename == npm:
            raise PullFailed(f"{npm} cannot be run: {error.strerror}") from error
        raise
    finally:
        shutil.rmtree(part.scratch, ignore_errors=True)


def _ask_registry(card: LibraryCard, part: PartialFile) -> None:
    base = card.package.rpartition("/")[2]
    download(f"{find_registry()}/{card.package}/-/{base}-{card.version}.tgz", card.package, part)


def _find_problem(card: LibraryCard, part: PartialFile) -> str:
    """Return what is wrong with a downloaded package: another hash than the catalogue says, or nothing."""
    with open(part.path, "rb") as file:
        found = base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()
    return "" if found == card.sha512 else "served a different file"


def _unpack(package: Path, folder: Path) -> None:
    """Write the libraries of a package into a new folder, which replaces a damaged one when it is complete."""
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        sizes: dict[str, int] = {}
        with tarfile.open(package) as archive:
            for member in archive:
                name = member.name.rpartition("/")[2]
                is_wanted = LIBRARY_FILE.fullmatch(name) and not UNUSED_FILE.match(name)
                if member.isfile() and (is_wanted or name == "LICENSE") and (content := archive.extractfile(member)):
                    sizes[name] = _write_file(content, new / name)
        if not any(re.match(r"(lib)?llama\b", name) for name in sizes):
            raise LibraryError(f"{package.name} holds no library of llama.cpp")
        (new / RECORD_FILE).write_text(json.dumps({"files": sizes}))
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise LibraryError(f"{package.name} is damaged ({error})") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _write_file(content: IO[bytes], path: Path) -> int:
    with open(path, "xb") as file:
        shutil.copyfileobj(content, file)
        os.fsync(file.fileno())
        return file.tell()
