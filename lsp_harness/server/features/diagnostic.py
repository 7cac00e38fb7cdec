"""`textDocument/diagnostic`: what is held against a document now, for clients that pull instead of being pushed to."""

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server.abilities import Abilities
from lsp_harness.server.client import Client
from lsp_harness.server.convert import diagnostic

METHOD = types.TEXT_DOCUMENT_DIAGNOSTIC


def offered(able: Abilities) -> bool:
    return able.pull_diagnostics


async def run(
    client: Client, snapshot: Snapshot, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    document = snapshot.document
    version, findings = client.harness.findings(document.uri)
    # findings of another version have no place in this text; those of this one are announced by a refresh
    current = findings if version == document.version else ()
    items = [diagnostic(document, found, client.able.encoding) for found in current]
    result_id = f"{document.hash}-{hash(tuple(current)) & 0xFFFFFFFF:08x}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)
