"""The diagnostics that the server pushed for one open document."""

from lsprotocol import types

from lsp_harness.server.protocol import Server


class PushedDiagnostics:
    """A part of an open document: when the document closes, the client shows no diagnostics of ours on it any more."""

    def __init__(self, server: Server, uri: str) -> None:
        self._server = server
        self._uri = uri
        self._is_empty = True

    def push(self, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        """Replace the diagnostics that the client shows."""
        self._is_empty = not diagnostics
        params = types.PublishDiagnosticsParams(self._uri, diagnostics, version)
        self._server.text_document_publish_diagnostics(params)

    def close(self) -> None:
        """Remove the diagnostics."""
        if not self._is_empty:
            self.push(None, [])
