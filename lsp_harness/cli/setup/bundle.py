"""A folder with all files of a setup, for a machine without a network. Another machine of any kind makes it."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError, UsageError
from lsp_harness.inference.libraries.library_catalogue import LibraryCard
from lsp_harness.inference.models.catalogue import ModelCard

MANIFEST = "lsp-harness-bundle.json"
WHEELS = "wheels"
"""The folder of a bundle with the wheels of the checkers and of the packages of the engine."""
WHEEL_PLATFORMS = {
    ("linux", "x64"): (
        "manylinux_2_34_x86_64",
        "manylinux_2_28_x86_64",
        "manylinux_2_17_x86_64",
        "manylinux2014_x86_64",
    ),
    ("linux", "arm64"): (
        "manylinux_2_34_aarch64",
        "manylinux_2_28_aarch64",
        "manylinux_2_17_aarch64",
        "manylinux2014_aarch64",
    ),
    ("linux", "armv7l"): ("manylinux_2_31_armv7l", "manylinux_2_17_armv7l", "manylinux2014_armv7l"),
    ("darwin", "arm64"): ("macosx_14_0_arm64", "macosx_11_0_arm64", "macosx_11_0_universal2"),
    ("darwin", "x64"): ("macosx_14_0_x86_64", "macosx_11_0_x86_64", "macosx_10_12_x86_64", "macosx_10_9_x86_64"),
    ("win32", "x64"): ("win_amd64",),
    ("win32", "arm64"): ("win_arm64",),
}
"""The platforms of wheels that run on a system and a processor family, the newest first."""


def list_wheel_options(library: LibraryCard) -> list[str]:
    """Return the options of `pip download` for the machine of a library. The Python has the version of this process.

    Raises:
        UsageError: No wheels are known for that machine.
    """
    platforms = WHEEL_PLATFORMS.get((library.system, library.machine))
    if platforms is None:
        raise UsageError(f"no wheels are known for {library.system} on {library.machine}")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return ["--python-version", version, *(part for name in platforms for part in ("--platform", name))]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle in a folder, with the names of its library and its model."""

    folder: Path
    library: str
    model: str

    @staticmethod
    def open(folder: Path) -> "Bundle":
        """Return the bundle in a folder. Raise UsageError if there is none."""
        try:
            content: Any = json.loads(read_text(folder / MANIFEST))
            return Bundle(folder.absolute(), str(content["library"]), str(content["model"]))
        except (FileError, ValueError, KeyError, TypeError):
            raise UsageError(
                f"{folder} is no bundle; make one on another machine with: lsp-harness setup --bundle {folder}"
            ) from None

    def find_library(self, wanted: LibraryCard) -> Path:
        """Return the file with the package of a library. Raise UsageError if the bundle has another library."""
        if self.library != wanted.folder_name:
            raise UsageError(f"the bundle has the library {self.library}, and this machine needs {wanted.folder_name}")
        return self.folder / wanted.package_file

    def find_model(self, wanted: ModelCard) -> Path:
        """Return the file of a model. Raise UsageError if the bundle has another model."""
        if self.model != wanted.name:
            raise UsageError(f"the bundle has the model {self.model}, and the settings name {wanted.name}")
        return self.folder / wanted.file


def write_bundle(folder: Path, library: LibraryCard, model: ModelCard, file: Path) -> None:
    """Complete a bundle, in which the package of the library and the wheels are, with a model whose hash was checked.

    Args:
        folder: The folder of the bundle.
        library: The library.
        model: The model.
        file: The file of the model.
    """
    if file != folder / model.file:
        shutil.copyfile(file, folder / model.file)
    # last, so that a folder without all files is no bundle
    manifest = {"library": library.folder_name, "model": model.name}
    (folder / MANIFEST).write_text(json.dumps(manifest) + "\n")
