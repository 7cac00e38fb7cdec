"""The registry of the kinds of servers. To add one, write its module and add its `KIND` here."""

from lsp_harness.inference.backends import anthropic, llama_server, openai
from lsp_harness.inference.backends.backend import BackendKind
from lsp_harness.inference.target import AUTOMATIC, Provider

KINDS: tuple[BackendKind, ...] = (llama_server.KIND, openai.KIND, anthropic.KIND)
"""All kinds, in the order in which an unknown server is tried."""


def kind_of(dialect: str) -> BackendKind | None:
    """Return the kind whose name in `engine.dialect` is `dialect`."""
    return next((kind for kind in KINDS if kind.dialect == dialect), None)


def dialects() -> list[str]:
    """Return the values of `engine.dialect`."""
    return [AUTOMATIC, *(kind.dialect for kind in KINDS)]


def providers() -> list[Provider]:
    """Return the services of all kinds."""
    return [provider for kind in KINDS for provider in kind.providers]
