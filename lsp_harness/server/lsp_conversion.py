"""The one mapper between protocol terms and ours: positions and offsets, diagnostics and findings, edits."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.published_findings import PublishedFindings
from lsp_harness.harness.symbol_queries import Spot
from lsp_harness.server.client_capabilities import Abilities, at
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, count_units, decode
from lsp_harness.verify.finding import Finding, Severity

SOURCE = "lsp-harness"
VERDICT = "lsp-harness-verdict"
"""The URI scheme of documents that tell of a verdict."""

NOTE = "lsp-harness"

SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
NAMES: dict[types.DiagnosticSeverity, Severity] = {number: name for name, number in SEVERITIES.items()}

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
"""By the names of captures in `symbols.scm`."""


def offset(document: Document, position: types.Position, encoding: Encoding) -> int:
    return document.offset(Position(position.line, position.character), encoding)


def span(document: Document, range: types.Range, encoding: Encoding) -> tuple[int, int]:
    """Byte offsets of a range, in order even where the client's are not."""
    start, end = offset(document, range.start, encoding), offset(document, range.end, encoding)
    return min(start, end), max(start, end)


def range_of(document: Document, start: int, end: int, encoding: Encoding) -> types.Range:
    first, last = document.position(start, encoding), document.position(end, encoding)
    return types.Range(types.Position(*first), types.Position(*last))


def location(spot: Spot, encoding: Encoding) -> types.Location:
    """Of the name at a spot."""
    start = count_units(spot.before, encoding)
    end = start + count_units(spot.name, encoding)
    return types.Location(spot.uri, types.Range(types.Position(spot.line, start), types.Position(spot.line, end)))


def diagnostics(document: Document, published: PublishedFindings, able: Abilities) -> list[types.Diagnostic]:
    """Return the findings of a text, each with its source and a link to the checks, if the client shows that."""
    return [_diagnostic(document, finding, published, able) for finding in published.findings]


def _diagnostic(
    document: Document, finding: Finding, published: PublishedFindings, able: Abilities
) -> types.Diagnostic:
    # the tool travels in `data`, so that a fix asked for this diagnostic knows who found it
    data = {"source": finding.source, "verdict": verdict_uri(published.verdict) if published.verdict else ""}
    accepted = published.accepted
    related = accepted and able.related_information
    described = published.verdict and able.code_description and finding.code
    return types.Diagnostic(
        range=range_of(document, finding.start, finding.end, able.encoding),
        message=finding.message,
        severity=SEVERITIES[finding.severity],
        source=SOURCE,
        code=finding.code or None,
        code_description=types.CodeDescription(verdict_uri(published.verdict)) if described else None,
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(document.uri, range_of(document, *accepted, able.encoding)),
                "it came with a suggestion that was accepted here",
            )
        ]
        if related and accepted
        else None,
        data={name: value for name, value in data.items() if value} or None,
    )


def verdict_uri(name: str) -> str:
    """Where a client finds the document of a verdict, `SESSION/TURN`."""
    return f"{VERDICT}:/{name}.md"


def verdict_name(uri: str) -> str:
    """The inverse. Raises UsageError."""
    scheme, _, rest = uri.partition(":")
    if scheme != VERDICT or not rest.endswith(".md"):
        raise UsageError(f"{uri} is not a verdict of lsp-harness")
    return rest.removesuffix(".md").lstrip("/")


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


@dataclass(frozen=True, slots=True)
class Note:
    """What is said of an edit where the client can show it: `label` in short, `confirm` that it must be agreed to."""

    label: str
    description: str
    confirm: bool


def workspace_edit(
    edited: Sequence[tuple[Document, Sequence[Edit], int | None]], able: Abilities, note: Note | None = None
) -> types.WorkspaceEdit:
    """Return edits of documents as the client can apply them.

    Args:
        edited: Each document with its edits and the version that they belong to. A document that is not open has none.
        able: The abilities of the client. Without `documentChanges` there are no versions.
        note: The annotation of the edits, if the client can show it.
    """
    noted = note if able.change_annotations and able.document_changes else None
    if not able.document_changes:
        return types.WorkspaceEdit(
            changes={
                document.uri: [_text_edit(document, edit, able) for edit in edits] for document, edits, _ in edited
            }
        )
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for document, edits, version in edited:
        texts: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = []
        for edit in edits:
            text = _text_edit(document, edit, able)
            texts.append(types.AnnotatedTextEdit(NOTE, text.range, text.new_text) if noted else text)
        target = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=version)
        changes.append(types.TextDocumentEdit(text_document=target, edits=texts))
    return types.WorkspaceEdit(
        document_changes=changes,
        change_annotations={NOTE: types.ChangeAnnotation(noted.label, noted.confirm, noted.description)}
        if noted
        else None,
    )


def _text_edit(document: Document, edit: Edit, able: Abilities) -> types.TextEdit:
    return types.TextEdit(range_of(document, edit.start, edit.end, able.encoding), decode(edit.new))
