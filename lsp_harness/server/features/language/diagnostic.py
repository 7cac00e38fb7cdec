"""`textDocument/diagnostic`: return the findings in a document, for clients that pull diagnostics."""

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import lsp_diagnostics
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_DIAGNOSTIC


def is_offered(capabilities: ClientCapabilities) -> bool:
    return capabilities.pull_diagnostics


def answer_out_of_sync(error: DocumentOutOfSync) -> types.RelatedFullDocumentDiagnosticReport:
    """Return no diagnostics."""
    return types.RelatedFullDocumentDiagnosticReport(items=[])


async def run(
    client: EditorClient, snapshot: Snapshot, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    document = snapshot.document
    # only the findings of this version; a refresh announces new ones
    published = client.harness.verification.findings(document)
    others = client.other_findings(document)
    items = lsp_diagnostics(document, published, client.capabilities, others)
    key = hash(tuple((results.findings, results.verdict) for results in (published, *others)))
    result_id = f"{document.hash}-{key & 0xFFFFFFFF:08x}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)
