"""Shows the findings about files that agents changed, also of files that are not open."""

from pathlib import Path

from lsprotocol import types

from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.events import AgentFindingsChanged, HarnessEvent
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import lsp_diagnostics
from lsp_harness.text.uri import local_path
from lsp_harness.verify.published_findings import PublishedFindings


class AgentDiagnostics:
    """The diagnostics of files that agents changed.

    The findings about an open document are a part of its other diagnostics, pushed or pulled. A client can pull only
    those of documents that it has open, so those of other files are pushed to every client.

    Args:
        client: The client.
    """

    def __init__(self, client: EditorClient) -> None:
        self._client = client
        self._findings = client.harness.services.agent_findings
        self._shown_uris: set[str] = set()
        """The open documents that had findings of agents when they were last looked at."""
        self._pushed: dict[Path, str] = {}
        """File → the URI of the diagnostics that were pushed while it was not open."""

    def handle(self, event: HarnessEvent) -> None:
        """Show the findings about a file again if they have changed."""
        if isinstance(event, AgentFindingsChanged):
            uris = self._find_uris(event.file)
            for uri in uris:
                self._show_open(uri)
            self._show_closed(event.file, is_open=bool(uris))

    def follow(self, uri: str) -> None:
        """Show the findings about a document whose text was opened, changed, closed or lost.

        Args:
            uri: The document.
        """
        if not self._findings and not self._shown_uris and not self._pushed:
            return
        file = local_path(uri)
        if file is None:
            return
        file = resolve_links(file)
        self._show_closed(file, is_open=bool(self._find_uris(file)))
        self._show_open(uri)

    def _show_open(self, uri: str) -> None:
        opened = self._client.harness.documents.find(uri)
        has_findings = opened is not None and bool(self._findings.find(opened.text))
        if opened and (has_findings or uri in self._shown_uris):
            self._client.publish(uri, self._client.harness.verification.findings(opened.text))
        (self._shown_uris.add if has_findings else self._shown_uris.discard)(uri)

    def _show_closed(self, file: Path, *, is_open: bool) -> None:
        """Push the findings about a file that is not open, or remove them."""
        found = [] if is_open else self._findings.find_by_file(file)
        old_uri = self._pushed.pop(file, "")
        if found:
            text = found[0].text
            results = [each.published for each in found if each.text.hash == text.hash]
            diagnostics = lsp_diagnostics(text, PublishedFindings(0), self._client.capabilities, results)
            self._push(text.uri, diagnostics)
            self._pushed[file] = text.uri
        elif old_uri:
            self._push(old_uri, [])

    def _push(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        self._client.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    def _find_uris(self, file: Path) -> list[str]:
        """Return the URIs of a file that the client has open, also of those whose text is not known any more."""
        documents = self._client.harness.documents
        uris = [*(opened.uri for opened in documents), *documents.lost_texts]
        return [uri for uri in uris if (path := local_path(uri)) and resolve_links(path) == file]
