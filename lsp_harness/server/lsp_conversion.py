"""The one mapper between LSP and our own terms: positions and byte offsets, diagnostics and findings, edits."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.symbols.symbol_location import SymbolLocation
from lsp_harness.harness.verification.published_findings import PublishedFindings
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.json_value import value_at
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, count_units, decode
from lsp_harness.verify.finding import Finding, Severity

SOURCE = "lsp-harness"
"""The source of our diagnostics."""
VERDICT_SCHEME = "lsp-harness-verdict"
"""The URI scheme of the documents of verdicts."""
ANNOTATION_ID = "lsp-harness"

SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
SEVERITY_NAMES: dict[types.DiagnosticSeverity, Severity] = {number: name for name, number in SEVERITIES.items()}

SYMBOL_KINDS: dict[str, types.SymbolKind] = {
    "class": types.SymbolKind.Class,
    "constant": types.SymbolKind.Constant,
    "constructor": types.SymbolKind.Constructor,
    "enum": types.SymbolKind.Enum,
    "field": types.SymbolKind.Field,
    "function": types.SymbolKind.Function,
    "implementation": types.SymbolKind.Object,
    "interface": types.SymbolKind.Interface,
    "macro": types.SymbolKind.Function,
    "member": types.SymbolKind.EnumMember,
    "method": types.SymbolKind.Method,
    "module": types.SymbolKind.Module,
    "namespace": types.SymbolKind.Namespace,
    "property": types.SymbolKind.Property,
    "struct": types.SymbolKind.Struct,
    "type": types.SymbolKind.TypeParameter,
    "variable": types.SymbolKind.Variable,
}
"""The LSP kinds of the captures in `symbols.scm`."""


def byte_offset(document: Document, position: types.Position, encoding: Encoding) -> int:
    """Convert an LSP position to a byte offset."""
    return document.offset(Position(position.line, position.character), encoding)


def byte_span(document: Document, range: types.Range, encoding: Encoding) -> tuple[int, int]:
    """Convert an LSP range to byte offsets. The smaller one comes first, even if the client sent a reversed range."""
    start, end = byte_offset(document, range.start, encoding), byte_offset(document, range.end, encoding)
    return min(start, end), max(start, end)


def lsp_range(document: Document, start: int, end: int, encoding: Encoding) -> types.Range:
    """Convert byte offsets to an LSP range."""
    start_position, end_position = document.position(start, encoding), document.position(end, encoding)
    return types.Range(types.Position(*start_position), types.Position(*end_position))


def lsp_location(symbol: SymbolLocation, encoding: Encoding) -> types.Location:
    """Return the location of the name of a symbol."""
    start = count_units(symbol.line_prefix, encoding)
    end = start + count_units(symbol.name, encoding)
    return types.Location(symbol.uri, types.Range(types.Position(symbol.line, start), types.Position(symbol.line, end)))


def lsp_diagnostics(
    document: Document, published: PublishedFindings, capabilities: ClientCapabilities
) -> list[types.Diagnostic]:
    """Return the findings of a text, each with its source and a link to its verdict, if the client shows links."""
    return [_lsp_diagnostic(document, finding, published, capabilities) for finding in published.findings]


def _lsp_diagnostic(
    document: Document, finding: Finding, published: PublishedFindings, capabilities: ClientCapabilities
) -> types.Diagnostic:
    # the tool is in `data`, so that a request for a fix of this diagnostic knows who found it
    data = {"source": finding.source, "verdict": verdict_uri(published.verdict) if published.verdict else ""}
    has_link = published.verdict and capabilities.code_description and finding.code
    related_information = None
    if published.accepted and capabilities.related_information:
        accepted_range = lsp_range(document, *published.accepted, capabilities.encoding)
        related_information = [
            types.DiagnosticRelatedInformation(
                types.Location(document.uri, accepted_range), "it came with a suggestion that was accepted here"
            )
        ]
    return types.Diagnostic(
        range=lsp_range(document, finding.start, finding.end, capabilities.encoding),
        message=finding.message,
        severity=SEVERITIES[finding.severity],
        source=SOURCE,
        code=finding.code or None,
        code_description=types.CodeDescription(verdict_uri(published.verdict)) if has_link else None,
        related_information=related_information,
        data={name: value for name, value in data.items() if value} or None,
    )


def verdict_uri(name: str) -> str:
    """Return the URI of the document of a verdict. Its name is `SESSION/TURN`."""
    return f"{VERDICT_SCHEME}:/{name}.md"


def verdict_name(uri: str) -> str:
    """Return the name of the verdict that a URI names.

    Raises:
        UsageError: The URI does not name a verdict.
    """
    scheme, _, path = uri.partition(":")
    if scheme != VERDICT_SCHEME or not path.endswith(".md"):
        raise UsageError(f"{uri} is not a verdict of lsp-harness")
    return path.removesuffix(".md").lstrip("/")


def to_finding(document: Document, diagnostic: types.Diagnostic, encoding: Encoding) -> Finding:
    """Convert a diagnostic of any server to a finding."""
    start, end = byte_span(document, diagnostic.range, encoding)
    source = diagnostic.source or ""
    if source == SOURCE:
        source = str(value_at(diagnostic.data, "source") or "")
    return Finding(
        start=start,
        end=end,
        message=diagnostic.message,
        source=source,
        code="" if diagnostic.code is None else str(diagnostic.code),
        severity=SEVERITY_NAMES.get(diagnostic.severity or types.DiagnosticSeverity.Error, "error"),
    )


@dataclass(frozen=True, slots=True)
class EditAnnotation:
    """The text that a client shows with an edit, if it supports change annotations.

    Attributes:
        label: The text in short.
        description: The text in long.
        needs_confirmation: Whether the user must confirm the edit.
    """

    label: str
    description: str
    needs_confirmation: bool


def workspace_edit(
    edited: Sequence[tuple[Document, Sequence[Edit], int | None]],
    capabilities: ClientCapabilities,
    annotation: EditAnnotation | None = None,
) -> types.WorkspaceEdit:
    """Convert edits of documents to LSP.

    Args:
        edited: Each document with its edits and the version that they belong to. A document that is not open has none.
        capabilities: Of the client that applies the edits. Without `document_changes`, versions are dropped.
        annotation: The text that the client shows with the edits, if it supports that.
    """
    if not capabilities.document_changes:
        return types.WorkspaceEdit(
            changes={
                document.uri: [_text_edit(document, edit, capabilities) for edit in edits]
                for document, edits, _ in edited
            }
        )
    displayed = annotation if capabilities.change_annotations else None
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for document, edits, version in edited:
        text_edits: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = []
        for edit in edits:
            text_edit = _text_edit(document, edit, capabilities)
            text_edits.append(
                types.AnnotatedTextEdit(ANNOTATION_ID, text_edit.range, text_edit.new_text) if displayed else text_edit
            )
        target = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=version)
        changes.append(types.TextDocumentEdit(text_document=target, edits=text_edits))
    annotations = None
    if displayed:
        lsp_annotation = types.ChangeAnnotation(displayed.label, displayed.needs_confirmation, displayed.description)
        annotations = {ANNOTATION_ID: lsp_annotation}
    return types.WorkspaceEdit(document_changes=changes, change_annotations=annotations)


def _text_edit(document: Document, edit: Edit, capabilities: ClientCapabilities) -> types.TextEdit:
    return types.TextEdit(lsp_range(document, edit.start, edit.end, capabilities.encoding), decode(edit.new))
