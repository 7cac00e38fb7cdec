"""Every feature of this server, except `initialize` (see `handshake`)."""

from lsp_harness.server.features import (
    code_actions,
    completions,
    documents,
    lifecycle,
    symbols,
    verdicts,
    workspace,
)
from lsp_harness.server.features.feature_binding import Feature

MODULES = (lifecycle, documents, completions, code_actions, verdicts, symbols, workspace)

FEATURES = tuple(value for module in MODULES for value in vars(module).values() if isinstance(value, Feature))
