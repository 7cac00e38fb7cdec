"""The one mapper between protocol terms and ours: positions and offsets, diagnostics and findings, edits."""

from collections.abc import Sequence

from lsprotocol import types

from lsp_harness.server.abilities import Abilities, at
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, decode
from lsp_harness.verify.finding import Finding, Severity

SOURCE = "lsp-harness"

SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
NAMES: dict[types.DiagnosticSeverity, Severity] = {number: name for name, number in SEVERITIES.items()}


def offset(document: Document, position: types.Position, encoding: Encoding) -> int:
    return document.offset(Position(position.line, position.character), encoding)


def span(document: Document, range: types.Range, encoding: Encoding) -> tuple[int, int]:
    """Byte offsets of a range, in order even where the client's are not."""
    start, end = offset(document, range.start, encoding), offset(document, range.end, encoding)
    return min(start, end), max(start, end)


def range_of(document: Document, start: int, end: int, encoding: Encoding) -> types.Range:
    first, last = document.position(start, encoding), document.position(end, encoding)
    return types.Range(types.Position(*first), types.Position(*last))


def diagnostic(document: Document, finding: Finding, encoding: Encoding) -> types.Diagnostic:
    # the tool travels in `data`, so that a fix asked for this diagnostic knows who found it
    return types.Diagnostic(
        range=range_of(document, finding.start, finding.end, encoding),
        message=finding.message,
        severity=SEVERITIES[finding.severity],
        source=SOURCE,
        code=finding.code or None,
        data={"source": finding.source} if finding.source else None,
    )


def finding(document: Document, found: types.Diagnostic, encoding: Encoding) -> Finding:
    """Anybody's diagnostic as a finding."""
    start, end = span(document, found.range, encoding)
    source = found.source or ""
    if source == SOURCE:
        source = str(at(found.data, "source") or "")
    return Finding(
        start=start,
        end=end,
        message=found.message,
        source=source,
        code="" if found.code is None else str(found.code),
        severity=NAMES.get(found.severity or types.DiagnosticSeverity.Error, "error"),
    )


def workspace_edit(document: Document, edits: Sequence[Edit], able: Abilities) -> types.WorkspaceEdit:
    """Bound to the document's version where the client can hold it to that."""
    changes = [
        types.TextEdit(range_of(document, edit.start, edit.end, able.encoding), decode(edit.new)) for edit in edits
    ]
    if not able.document_changes:
        return types.WorkspaceEdit(changes={document.uri: changes})
    target = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=target, edits=changes)])
