"""The folder of the model files, and the file that a setting means.

The import is cheap, because the language server needs it at start.

After a file was checked, its hash, size and modification time are recorded beside it. To read half a gigabyte again at
every start would take longer than to load the model.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, Literal, cast

from lsp_harness.config import paths
from lsp_harness.config.schema import is_model_file
from lsp_harness.disk.file_lock import FileLock
from lsp_harness.disk.file_reading import describe_system_error, read_start, read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError, FileMissing, ModelError, ModelMissing, UnknownModel
from lsp_harness.inference.models.catalogue import Kind, ModelCard, card, cards
from lsp_harness.inference.models.gguf import GGUF_MAGIC
from lsp_harness.inference.models.partial_file import file_size, folder_size

State = Literal["present", "partial", "damaged", "missing"]
FINGERPRINT_BYTES = 2**20
"""Length of the beginning of a model file that its fingerprint includes."""


def models_folder() -> Path:
    """Return the folder of all models, which LSP_HARNESS_MODELS overrides. The folder is not created."""
    chosen = os.environ.get("LSP_HARNESS_MODELS")
    if chosen:
        return Path(os.path.expanduser(chosen)).absolute()
    return (paths.find_platform_folder("user_cache_dir") or paths.cache_folder()) / "models"


def model_path(model: ModelCard) -> Path:
    """Return the path of the file of a model, which may not exist."""
    return models_folder() / model.file


def model_state(model: ModelCard) -> State:
    """Return the state of the file of a model, without reading the file."""
    path = model_path(model)
    if path.is_file():
        return "present" if model.bytes in (0, path.stat().st_size) else "damaged"
    if os.path.lexists(path):
        return "damaged"
    return "partial" if path.with_name(f"{path.name}.part").exists() else "missing"


def resolve_model(spec: str, kind: Kind | None = None) -> Path:
    """Return the GGUF file for a catalogue name or a path. A catalogue model must be of `kind`, if that is given.

    Raises:
        ModelMissing: The model is not downloaded, or the file does not exist.
        UnknownModel: `spec` is no catalogue name and no path.
        ModelError: The file is damaged, no GGUF file, or of another kind.
    """
    if any(model.name == spec for model in cards()):
        model = card(spec)
        if kind not in (None, model.kind):
            fitting = ", ".join(c.name for c in cards() if c.kind == kind)
            raise ModelError(f"{spec} is a model for {model.kind}, not for {kind}; choose one of {fitting}")
        return _downloaded_file(model)
    if is_model_file(spec):
        path = Path(os.path.expanduser(spec)).absolute()
        return _require_gguf(path)
    raise UnknownModel(
        f"“{spec}” is neither a GGUF file nor a model of the catalogue; write a path that ends in .gguf, or one of "
        f"{', '.join(c.name for c in cards())}"
    )


def recorded_sha256(path: Path) -> str:
    """Return the recorded SHA-256 of a file, or an empty text if there is no record or the file has changed."""
    try:
        entry = json.loads(read_text(_record_file(path)))
        file = path.stat()
        unchanged = (entry["bytes"], entry["mtime_ns"]) == (file.st_size, file.st_mtime_ns)
        return str(entry["sha256"]) if unchanged else ""
    except (OSError, FileError, ValueError, KeyError, TypeError):
        return ""


def fingerprint(model: Path) -> str:
    """Return a text that identifies the contents of a model file: the beginning of the recorded SHA-256.

    A file of the user has no record. Its fingerprint is made of its size, its modification time and its first MiB,
    because to read gigabytes at every start would take longer than to load the model.
    """
    if sha256 := recorded_sha256(model):
        return sha256[:16]
    file = model.stat()
    head = read_start(model, FINGERPRINT_BYTES)
    return hashlib.sha256(f"{file.st_size} {file.st_mtime_ns} ".encode() + head).hexdigest()[:16]


def record_sha256(path: Path, sha256: str) -> None:
    """Record the SHA-256 of a file beside it."""
    file = path.stat()
    entry = {"sha256": sha256, "bytes": file.st_size, "mtime_ns": file.st_mtime_ns}
    try:
        write_own_file(_record_file(path), json.dumps(entry).encode())
    except OSError as error:
        paths.warn_not_saved("that the model was found right", paths.CACHE, _record_file(path), error)


def read_pin(name: str) -> str:
    """Return the SHA-256 of the first download of a model whose hash nobody has checked, or an empty text."""
    return _read_pins().get(name, "")


def write_pin(name: str, sha256: str) -> None:
    """Remember the SHA-256 of a model, so that each later download must be the same file.

    Raises:
        OSError: The pins cannot be written.
    """
    write_own_file(_pins_file(), json.dumps(_read_pins() | {name: sha256}, indent=1).encode())


def _read_pins() -> dict[str, str]:
    try:
        stored: Any = json.loads(read_text(_pins_file()))
    except FileMissing:
        return {}
    except (FileError, ValueError) as error:
        raise ModelError(f"{_pins_file()} cannot be read; remove it, and check the files of your models") from error
    pins = cast("dict[str, object]", stored) if isinstance(stored, dict) else {}
    return {name: str(sha256) for name, sha256 in pins.items()}


def _pins_file() -> Path:
    return models_folder() / "pins.json"


def remove_model(model: ModelCard) -> int:
    """Delete the file of a model and the rest of an unfinished download. Return the number of bytes that were freed."""
    path = model_path(model)
    if model_state(model) == "missing":
        raise ModelMissing(f"{model.name} is not on this machine, so there is nothing to delete")
    lock = FileLock(lock_file(path))
    try:
        lock.acquire()
    except BlockingIOError as error:
        raise ModelError(f"{model.name} is being downloaded by another process; stop that first") from error
    except OSError as error:
        problem = describe_system_error(error)
        raise ModelError(f"{lock_file(path)} cannot be used as a lock: {problem}; remove it") from error
    try:
        freed = 0
        for suffix in ("", ".json", ".part", ".part.json"):
            file = path.with_name(f"{path.name}{suffix}")
            if os.path.lexists(file):
                freed += file.lstat().st_size
                file.unlink()
        shutil.rmtree(path.with_name(f"{path.name}.wheel"), ignore_errors=True)
        return freed
    except OSError as error:
        raise ModelError(f"cannot delete {path}: {error.strerror}") from error
    finally:
        lock.release()


def lock_file(path: Path) -> Path:
    """Return the lock file that lets only one process download a file."""
    return path.with_name(f"{path.name}.lock")


def downloaded_bytes(path: Path) -> int:
    """Return the number of bytes of a file that have been downloaded so far, in all temporary files."""
    scratch = path.with_name(f"{path.name}.wheel")
    return sum(map(file_size, (path, path.with_name(f"{path.name}.part")))) + folder_size(scratch)


def _record_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _downloaded_file(model: ModelCard) -> Path:
    path = model_path(model)
    state = model_state(model)
    if state == "damaged" and not path.is_file():
        raise ModelError(f"{path} is no regular file; remove it and run `lsp-harness model pull {model.name}`")
    if state == "damaged":
        raise ModelError(f"{path} has the wrong size; run: lsp-harness model pull {model.name}")
    if state != "present":
        raise ModelMissing(f"the model {model.name} is not downloaded yet; run: lsp-harness model pull {model.name}")
    return _require_gguf(path)


def _require_gguf(path: Path) -> Path:
    try:
        magic = read_start(path, len(GGUF_MAGIC))
    except FileMissing:
        raise ModelMissing(f"there is no model file {path}") from None
    except FileError as error:
        raise ModelError(error.message) from error
    if magic != GGUF_MAGIC:
        raise ModelError(f"{path} is not a GGUF file; name another, or download one: lsp-harness model pull")
    return path
