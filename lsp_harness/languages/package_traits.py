"""Traits of the packages that a project installs."""

from dataclasses import dataclass
from enum import Enum


class Ecosystem(Enum):
    """A source of packages, with its own rules for their folders and their modules."""

    NONE = "none"
    """No packages are known."""
    PYPI = "pypi"
    """Distributions in the folder `site-packages` of a Python environment."""
    NPM = "npm"
    """Packages in the folder `node_modules`."""
    GO_MODULES = "go modules"
    """Modules in the module cache of the Go tool."""
    CRATES = "crates"
    """Crates in the registry of Cargo."""


@dataclass(frozen=True, slots=True)
class PackageTraits:
    """How a language uses installed packages."""

    ecosystem: Ecosystem = Ecosystem.NONE
    """The source of the packages."""
    language: str = ""
    """The id of the language in which the packages are read; empty if it is the language itself."""
    constructor_names: tuple[str, ...] = ()
    """The names of the members of a type that create an object of it."""
    constructor_prefix: str = ""
    """The text before the name of a type in the name of the function that creates an object of it."""
    call_method: str = ""
    """The member that makes an object callable."""
