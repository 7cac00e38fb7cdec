"""The version of lsp-harness that agents are told."""

from importlib.metadata import PackageNotFoundError, version


def client_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("lsp-harness")
    except PackageNotFoundError:
        return "0"
