"""The linter of a workspace the user does not trust: none, because its settings are the workspace's own."""

from lsp_harness.verify.ruff_linter import Ruff


class UntrustedRuff(Ruff):
    """Never asked, as it says why it cannot be."""

    @property
    def missing_reason(self) -> str:
        return "this workspace is not trusted, so no linter runs on it"


def ruff(*, trusted: bool) -> Ruff:
    """The linter of a workspace."""
    return Ruff() if trusted else UntrustedRuff()
