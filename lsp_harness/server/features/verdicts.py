"""Verdicts and findings: the diagnostics that a client pulls, the code lens of an edit, and the text of a verdict."""

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.commands import explanations
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.features.feature_binding import feature, no_document
from lsp_harness.server.lsp_conversion import lsp_diagnostics, lsp_range, verdict_name, verdict_uri
from lsp_harness.workspace.snapshot import Snapshot


def _no_findings(error: DocumentOutOfSync) -> types.RelatedFullDocumentDiagnosticReport:
    """Return no diagnostics, for a document that is not open."""
    return types.RelatedFullDocumentDiagnosticReport(items=[])


@feature(
    types.TEXT_DOCUMENT_DIAGNOSTIC,
    is_offered=lambda capabilities: capabilities.pull_diagnostics,
    answer_out_of_sync=_no_findings,
)
async def report_findings(
    client: EditorClient, snapshot: Snapshot, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """Return the findings in a document, for clients that pull diagnostics."""
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


def _no_lenses(error: DocumentOutOfSync) -> list[types.CodeLens]:
    """Return no lenses, for a document that is not open."""
    return []


@feature(
    types.TEXT_DOCUMENT_CODE_LENS, is_offered=lambda capabilities: capabilities.code_lens, answer_out_of_sync=_no_lenses
)
async def show_lens(client: EditorClient, snapshot: Snapshot, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return the verdict about the last accepted or saved edit, above the function that it changed.

    There is a lens only for the version that was verified. The command of the lens shows the document of the verdict.
    """
    document = snapshot.document
    lens = client.harness.verification.find_lens(document)
    if lens is None:
        return []
    line_range = lsp_range(document, lens.offset, lens.offset, client.capabilities.encoding)
    command = types.Command(lens.title, explanations.why.name, arguments=[verdict_uri(lens.verdict)])
    return [types.CodeLens(line_range, command)]


@feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, document_uri=no_document)
async def read_verdict(
    client: EditorClient, snapshot: Snapshot | None, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    """Return the document of a verdict by its URI."""
    return types.TextDocumentContentResult(text=client.harness.turns.verdict(verdict_name(params.uri)))
