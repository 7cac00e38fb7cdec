"""Where model files lie, and which file a setting means. Cheap to import: the language server asks it at start.

A file that was once found right is remembered beside it by size and modification time, as reading half a gigabyte again
at every start would cost more than loading it.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Literal

from lsp_harness.config import paths
from lsp_harness.config.schema import names_file
from lsp_harness.disk.file_reading import read_start, read_text, system_message
from lsp_harness.disk.file_writing import remove_irregular_file, write_own_file
from lsp_harness.errors import FileMissing, FileProblem, ModelError, ModelMissing, UnknownModel
from lsp_harness.inference.models.catalogue import Kind, ModelCard, card, cards
from lsp_harness.inference.models.partial_file import folder_size, size

State = Literal["present", "partial", "damaged", "missing"]
HEAD = 2**20
"""Bytes of a model file that are looked at to tell it from others."""


def folder() -> Path:
    """The folder of all models; LSP_HARNESS_MODELS overrides it. It is not made here."""
    chosen = os.environ.get("LSP_HARNESS_MODELS")
    if chosen:
        return Path(os.path.expanduser(chosen)).absolute()
    return (paths.usual("user_cache_dir") or paths.cache()) / "models"


def path_of(model: ModelCard) -> Path:
    """Where this model's file is, or would be."""
    return folder() / model.file


def state(model: ModelCard) -> State:
    """What a look at the folder says, without reading the file."""
    path = path_of(model)
    if path.is_file():
        return "present" if model.bytes in (0, path.stat().st_size) else "damaged"
    if os.path.lexists(path):
        return "damaged"
    return "partial" if path.with_name(f"{path.name}.part").exists() else "missing"


def resolve(spec: str, kind: Kind | None = None) -> Path:
    """The GGUF file that a catalogue name or a path means; a catalogue model must be of that `kind`, where one is given."""
    if any(known.name == spec for known in cards()):
        model = card(spec)
        if kind not in (None, model.kind):
            fitting = ", ".join(c.name for c in cards() if c.kind == kind)
            raise ModelError(f"{spec} is a model for {model.kind}, not for {kind}; choose one of {fitting}")
        return _pulled(model)
    if names_file(spec):
        path = Path(os.path.expanduser(spec)).absolute()
        return _gguf(path)
    raise UnknownModel(
        f"“{spec}” is neither a GGUF file nor a model of the catalogue; write a path that ends in .gguf, or one of {', '.join(c.name for c in cards())}"
    )


def checked(path: Path) -> str:
    """The SHA-256 this very file was found to have, or nothing."""
    try:
        entry = json.loads(read_text(_record(path)))
        file = path.stat()
        unchanged = (entry["bytes"], entry["mtime_ns"]) == (file.st_size, file.st_mtime_ns)
        return str(entry["sha256"]) if unchanged else ""
    except (OSError, FileProblem, ValueError, KeyError, TypeError):
        return ""


def fingerprint(model: Path) -> str:
    """What tells this model from others: the beginning of the SHA-256 that a pull noted.

    Of a file of the user's own it is that of its size, its time and its first part: to read gigabytes at every start
    would take longer than to load them.
    """
    if noted := checked(model):
        return noted[:16]
    file = model.stat()
    head = read_start(model, HEAD)
    return hashlib.sha256(f"{file.st_size} {file.st_mtime_ns} ".encode() + head).hexdigest()[:16]


def remember(path: Path, sha256: str) -> None:
    """Note what the file was found to be."""
    file = path.stat()
    entry = {"sha256": sha256, "bytes": file.st_size, "mtime_ns": file.st_mtime_ns}
    try:
        write_own_file(_record(path), json.dumps(entry).encode())
    except OSError as error:
        paths.unkept("that the model was found right", paths.CACHE, _record(path), error)


def remove(model: ModelCard) -> int:
    """Delete the file and whatever an unfinished pull left. Returns the bytes freed."""
    from filelock import FileLock, Timeout

    path = path_of(model)
    if state(model) == "missing":
        raise ModelMissing(f"{model.name} is not on this machine, so there is nothing to delete")
    lock = FileLock(_clean(lock_of(path)))
    try:
        with lock.acquire(timeout=0):
            freed = 0
            for file in (
                path,
                _record(path),
                path.with_name(f"{path.name}.part"),
                path.with_name(f"{path.name}.part.json"),
            ):
                if os.path.lexists(file):
                    freed += file.lstat().st_size
                    file.unlink()
            shutil.rmtree(path.with_name(f"{path.name}.wheel"), ignore_errors=True)
            return freed
    except Timeout as error:
        raise ModelError(f"{model.name} is being downloaded by another process; stop that first") from error
    except OSError as error:
        raise ModelError(f"cannot delete {path}: {error.strerror}") from error


def _clean(path: Path) -> Path:
    try:
        return remove_irregular_file(path)
    except OSError as error:
        raise ModelError(f"{path} cannot be used as a lock: {system_message(error)}; remove it") from error


def lock_of(path: Path) -> Path:
    """The file that keeps two pulls apart."""
    return path.with_name(f"{path.name}.lock")


def written(path: Path) -> int:
    """Bytes that pulls of a file have brought so far, wherever they lie."""
    folder = path.with_name(f"{path.name}.wheel")
    return sum(map(size, (path, path.with_name(f"{path.name}.part")))) + folder_size(folder)


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _pulled(model: ModelCard) -> Path:
    path = path_of(model)
    found = state(model)
    if found == "damaged" and not path.is_file():
        raise ModelError(f"{path} is no regular file; remove it and run `lsp-harness model pull {model.name}`")
    if found == "damaged":
        raise ModelError(f"{path} has the wrong size; run: lsp-harness model pull {model.name}")
    if found != "present":
        raise ModelMissing(f"the model {model.name} is not downloaded yet; run: lsp-harness model pull {model.name}")
    return _gguf(path)


def _gguf(path: Path) -> Path:
    try:
        magic = read_start(path, 4)
    except FileMissing:
        raise ModelMissing(f"there is no model file {path}") from None
    except FileProblem as error:
        raise ModelError(error.message) from error
    if magic != b"GGUF":
        raise ModelError(f"{path} is not a GGUF file; name another, or download one: lsp-harness model pull")
    return path
