"""The prebuilt libraries of llama.cpp that are known, read from `catalogue.toml`, and which of them fit a machine."""

import platform
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import LibraryError

Device = Literal["cpu", "metal", "vulkan", "cuda"]

MIN_GLIBC = (2, 34)
"""The prebuilt libraries for Linux were built on Ubuntu 22.04."""
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64", "armv7l": "armv7l"}
"""The names of processor families in the catalogue, by the names that systems give them."""
PREFERRED_DEVICES: tuple[Device, ...] = ("metal", "cpu")
"""Devices that are used without a choice of the user, the best first. A graphics card of another kind needs drivers."""


@dataclass(frozen=True, slots=True)
class LibraryCard:
    """One prebuilt library of the catalogue. `bytes` is the size of its download, or 0 if it is not known."""

    name: str
    package: str
    version: str
    llama_cpp: str
    system: str
    machine: str
    device: Device
    sha512: str
    bytes: int = 0
    is_tested: bool = False

    @property
    def folder_name(self) -> str:
        """Return the name of the folder in which the library is stored."""
        return f"{self.name}-{self.version}"

    @property
    def package_file(self) -> str:
        """Return the name of the file of its npm package."""
        return f"{self.folder_name}.tgz"


@dataclass(frozen=True, slots=True)
class Machine:
    """The facts that decide which prebuilt libraries can run: system, processor family, and the C library of Linux."""

    system: str
    processor: str
    c_library: str = ""
    c_library_version: tuple[int, ...] = ()

    @staticmethod
    def read() -> "Machine":
        """Return the machine of this process."""
        name, version = platform.libc_ver() if sys.platform == "linux" else ("", "")
        numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
        processor = platform.machine().lower()
        if sys.maxsize < 2**32 and processor == "aarch64":
            # a 32-bit system on a 64-bit processor
            processor = "armv7l"
        return Machine(sys.platform, MACHINES.get(processor, processor), name, numbers)

    def find_problem(self) -> str:
        """Return why no prebuilt library can run here, or an empty text."""
        if not any(card.system == self.system and card.machine == self.processor for card in library_cards()):
            return f"there is no prebuilt library for {self.system} on {self.processor}"
        if self.system != "linux" or (self.c_library == "glibc" and self.c_library_version >= MIN_GLIBC):
            return ""
        wanted = ".".join(map(str, MIN_GLIBC))
        if self.c_library != "glibc":
            return f"the prebuilt libraries need glibc {wanted}, and this system has another C library"
        present = ".".join(map(str, self.c_library_version))
        return f"the prebuilt libraries need glibc {wanted}, and this system has {present}"

    def list_fitting(self) -> list[LibraryCard]:
        """Return the prebuilt libraries that can run here, those that need no choice of the user first."""
        if self.find_problem():
            return []
        fitting = [card for card in library_cards() if (card.system, card.machine) == (self.system, self.processor)]
        order = (*PREFERRED_DEVICES, "vulkan", "cuda")
        return sorted(fitting, key=lambda card: order.index(card.device))


@cache
def library_cards() -> tuple[LibraryCard, ...]:
    """Return all libraries of the catalogue, in its order."""
    text = read_text(Path(__file__).with_name("catalogue.toml"))
    return tuple(LibraryCard(**row) for row in tomllib.loads(text)["library"])


def find_card(name: str) -> LibraryCard:
    """Return the library with this name. Raise LibraryError if there is none."""
    for card in library_cards():
        if card.name == name:
            return card
    names = ", ".join(card.name for card in library_cards())
    raise LibraryError(f"there is no prebuilt library “{name}”; the catalogue has {names}")
