"""Packages that only some commands need: the extras of `pip install 'lsp-harness[…]'`, and which of them are missing.

pyproject.toml declares the extras. Nothing is declared twice: the packages of an extra are read from the metadata of
the installed lsp-harness.
"""

import re
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from lsp_harness.errors import ExtraMissing

DISTRIBUTION = "lsp-harness"
ALL = "all"
"""The extra that contains all others."""
_REQUIREMENT_PATTERN = re.compile(r"(?P<name>[\w.-]+)(?P<version>[^;]*)(?:;(?P<marker>.*))?")
_EXTRA_PATTERN = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_PLATFORM_PATTERN = re.compile(r"""sys_platform\s*(==|!=)\s*["'](\w+)["']""")
_MODULES = {"agent-client-protocol": "acp", "pywinpty": "winpty"}
"""Modules of the distributions whose module has another name."""


@dataclass(frozen=True, slots=True)
class RequiredPackage:
    """A package of an extra: its module, and the requirement with its versions, as pip takes it."""

    module: str
    requirement: str


@cache
def read_extras() -> Mapping[str, tuple[RequiredPackage, ...]]:
    """Return the packages of each extra but `all`, by its name. Without an installed lsp-harness there are none."""
    # the import takes some hundredths of a second, and every start of a server imports this module
    from importlib import metadata

    extras: dict[str, list[RequiredPackage]] = {}
    try:
        requirements = metadata.requires(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:
        return {}
    for requirement in requirements:
        match = _REQUIREMENT_PATTERN.fullmatch(requirement)
        extra = _EXTRA_PATTERN.search(requirement)
        platform = _PLATFORM_PATTERN.search(requirement)
        is_for_here = platform is None or (platform[2] == sys.platform) is (platform[1] == "==")
        if match and extra and is_for_here and extra[1] != ALL:
            name = match["name"]
            module = _MODULES.get(name, name.replace("-", "_"))
            extras.setdefault(extra[1], []).append(RequiredPackage(module, (name + match["version"]).strip()))
    return {name: tuple(packages) for name, packages in extras.items()}


@cache
def list_missing_packages(extra: str) -> tuple[RequiredPackage, ...]:
    """Return the packages of an extra that are not installed. An unknown extra has none."""
    return tuple(package for package in read_extras().get(extra, ()) if find_spec(package.module) is None)


def describe_missing_extra(extra: str) -> str:
    """Return the sentence for the first package of an extra that is missing, or an empty string if none is."""
    return next((describe_missing(extra, package.module) for package in list_missing_packages(extra)), "")


def require_extra(extra: str) -> None:
    """Raise ExtraMissing, which names the command that repairs it, if a package of an extra is missing."""
    if problem := describe_missing_extra(extra):
        raise ExtraMissing(problem)


def describe_missing(extra: str, module: str) -> str:
    """Return the sentence for a module that is missing, with the command that installs its extra."""
    return f"this needs the package {module}; run: {install_command(extra)}"


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


@contextmanager
def need_extra(extra: str) -> Generator[None]:
    """Raise ExtraMissing, which names the command that repairs it, for a module that cannot be found in the block.

    Args:
        extra: The extra that contains the modules which the block imports.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # a module of this package that is missing is a bug, which no installation of an extra repairs
        if (module := _top_module(error)) == __package__:
            raise
        raise ExtraMissing(describe_missing(extra, module)) from error


def describe_missing_module(error: BaseException) -> str:
    """Return the sentence for an error whose cause is a missing module of an extra, or an empty string for others."""
    for cause in _list_causes(error):
        if isinstance(cause, ModuleNotFoundError):
            module = _top_module(cause)
            for extra, packages in read_extras().items():
                if any(package.module == module for package in packages):
                    return describe_missing(extra, module)
    return ""


def _top_module(error: ModuleNotFoundError) -> str:
    return (error.name or "").partition(".")[0]


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error:
        yield error
        error = error.__cause__ or error.__context__
