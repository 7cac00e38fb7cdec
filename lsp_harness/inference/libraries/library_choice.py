"""Which library of llama.cpp is used: the one that the user names, a prebuilt one, or one that was compiled.

The import is cheap, because commands ask which library is used without loading it.
"""

import importlib.util
import json
import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError, LibraryError
from lsp_harness.inference.libraries.library_catalogue import LibraryCard, Machine, find_card

COMPILED = "compiled"
"""The name of the library that the package `llama-cpp-python` has compiled."""
BINDING = "llama-cpp-python"
RECORD_FILE = "library.json"
"""A file in the folder of a prebuilt library with the size of each of its other files."""
SELECTION_FILE = "selected.txt"
"""A file in the folder of all libraries with the name that the user has chosen."""

Origin = Literal["prebuilt", "compiled", "folder"]


@dataclass(frozen=True, slots=True)
class EngineLibrary:
    """A library of llama.cpp on this machine.

    Attributes:
        name: The name for the user.
        version: The version of llama.cpp, or of the package that compiled it; empty if it is not known.
        reason: Why this library is used.
        is_tested: Whether the tests of lsp-harness ran with exactly this library.
    """

    name: str
    origin: Origin
    folder: Path
    version: str
    reason: str = ""
    is_tested: bool = False

    @property
    def identity(self) -> str:
        """Return a text for the names of files that only this library may read."""
        return f"{self.name}-{self.version}".replace(os.sep, "_")


def libraries_folder() -> Path:
    """Return the folder of all libraries, which LSP_HARNESS_LIBRARIES overrides. The folder is not created."""
    chosen = os.environ.get("LSP_HARNESS_LIBRARIES")
    if chosen:
        return Path(os.path.expanduser(chosen)).absolute()
    return (paths.find_platform_folder("user_cache_dir") or paths.cache_folder()) / "libraries"


def find_library(setting: str = "") -> EngineLibrary:
    """Return the library that an engine uses.

    Args:
        setting: The setting `engine.library`: a folder, the name of a library, or empty.

    Raises:
        LibraryError: The library that the user names is missing or damaged, or there is none at all.
    """
    if setting:
        return _find_named(setting, "engine.library names it")
    if selected := read_selection():
        return _find_named(selected, "it was chosen with `lsp-harness engine libraries use`")
    machine, problem = Machine.read(), "no prebuilt library is here"
    for card in machine.list_fitting():
        if not (folder := library_folder(card)).is_dir():
            continue
        if not (damage := find_damage(folder)):
            return _describe(card, "it is the first prebuilt library for this machine that is here")
        problem = f"the library {card.name} is damaged: {damage}"
    misfit = machine.find_problem()
    if compiled := find_compiled(misfit or problem):
        return compiled
    if misfit:
        raise LibraryError(f"{misfit}; run: pip install {BINDING} (this compiles llama.cpp)")
    raise LibraryError(f"{problem}; run: lsp-harness engine libraries use")


def library_folder(card: LibraryCard) -> Path:
    """Return the folder of a prebuilt library, which may not exist."""
    return libraries_folder() / card.folder_name


def find_damage(folder: Path) -> str:
    """Return what is wrong with the files of a prebuilt library, or an empty text.

    A file of a wrong size could end the process that loads it. The contents were checked by their hash when the library
    was stored.
    """
    try:
        sizes: dict[str, int] = json.loads(read_text(folder / RECORD_FILE))["files"]
        wrong = [name for name, size in sizes.items() if (folder / name).stat().st_size != size]
    except (FileError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return "some of its files are missing"
    return f"{wrong[0]} has the wrong size" if wrong else ""


def find_compiled(reason: str) -> EngineLibrary | None:
    """Return the library that the package `llama-cpp-python` has compiled, or None. The package is not imported.

    Args:
        reason: Why it is used.
    """
    try:
        found = importlib.util.find_spec("llama_cpp")
        binding = version(BINDING)
    except (ImportError, ValueError, PackageNotFoundError):
        return None
    folders = [Path(place) / "lib" for place in (found and found.submodule_search_locations) or ()]
    folder = next((folder for folder in folders if folder.is_dir() and any(folder.iterdir())), None)
    return EngineLibrary(COMPILED, "compiled", folder, binding, reason) if folder else None


def read_selection() -> str:
    """Return the name of the library that the user has chosen, or an empty text."""
    try:
        return read_text(libraries_folder() / SELECTION_FILE).strip()
    except FileError:
        return ""


def _find_named(name: str, reason: str) -> EngineLibrary:
    if name == COMPILED:
        if compiled := find_compiled(reason):
            return compiled
        raise LibraryError(f"{BINDING} is not installed; run: pip install {BINDING} (this compiles llama.cpp)")
    if os.sep in name or (os.altsep and os.altsep in name):
        folder = Path(os.path.expanduser(name)).absolute()
        if not folder.is_dir():
            raise LibraryError(f"engine.library: {folder} is no folder")
        return EngineLibrary(str(folder), "folder", folder, "", reason)
    card = find_card(name)
    folder = library_folder(card)
    if not folder.is_dir():
        raise LibraryError(f"the library {name} is not here; run: lsp-harness engine libraries use {name}")
    if damage := find_damage(folder):
        raise LibraryError(f"the library {name} is damaged: {damage}; run: lsp-harness engine libraries use {name}")
    return _describe(card, reason)


def _describe(card: LibraryCard, reason: str) -> EngineLibrary:
    return EngineLibrary(card.name, "prebuilt", library_folder(card), card.llama_cpp, reason, card.is_tested)
