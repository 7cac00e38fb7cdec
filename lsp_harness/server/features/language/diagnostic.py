"""`textDocument/diagnostic`: what is held against a document now, for clients that pull instead of being pushed to."""

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.client_capabilities import Abilities
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import diagnostics
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_DIAGNOSTIC


def offered(able: Abilities) -> bool:
    return able.pull_diagnostics


def unknown(error: DocumentOutOfSync) -> types.RelatedFullDocumentDiagnosticReport:
    return types.RelatedFullDocumentDiagnosticReport(items=[])


async def run(
    client: Client, snapshot: Snapshot, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    document = snapshot.document
    # findings of another version have no place in this text; those of this one are announced by a refresh
    current = client.harness.findings(document)
    items = diagnostics(document, current, client.able)
    result_id = f"{document.hash}-{hash((tuple(current.findings), current.verdict)) & 0xFFFFFFFF:08x}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)
