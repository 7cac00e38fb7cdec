"""The one mapper between LSP and our own terms: positions and byte offsets, diagnostics and findings, edits."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.symbol_verbs import SymbolLocation
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.json_value import value_at
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, count_units, decode
from lsp_harness.verify.finding import Finding, Severity
from lsp_harness.verify.published_findings import Cause, PublishedFindings

SOURCE = "lsp-harness"
"""The source of our diagnostics."""
CAUSES: dict[Cause, str] = {
    "accepted": "it came with a suggestion that was accepted here",
    "saved": "it came with a change that was saved here",
    "opened": "it was here when the file was opened",
    "agent": "it came with a change of the file while an agent worked in this folder",
}
"""Cause of a verification → the text at the changed place."""
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
    document: Document,
    published: PublishedFindings,
    capabilities: ClientCapabilities,
    others: Sequence[PublishedFindings] = (),
) -> list[types.Diagnostic]:
    """Return the findings of a text, each with its check, and a link to its verdict if the client shows links.

    Args:
        document: The text.
        published: The results of its verification.
        capabilities: The abilities of the client.
        others: The results of other verifications of this text. A finding that is known already is not repeated.
    """
    diagnostics: dict[object, types.Diagnostic] = {}
    for results in (published, *others):
        for found in results.by_check():
            check, finding, _ = found
            key = (check, finding.start, finding.end, finding.code, finding.message)
            if key not in diagnostics:
                diagnostics[key] = _lsp_diagnostic(document, found, results, capabilities)
    return list(diagnostics.values())


def _lsp_diagnostic(
    document: Document,
    found: tuple[str, Finding, str],
    published: PublishedFindings,
    capabilities: ClientCapabilities,
) -> types.Diagnostic:
    check, finding, line = found
    verdict = verdict_uri(published.verdict) if published.verdict else ""
    # a request for a fix sends it back, so that the finding need not be found again
    packed = pack_finding(finding)
    data = {"check": check, "hash": document.hash, "finding": packed, "feedback": line, "verdict": verdict}
    code = finding.code if finding.code in ("", check) else f"{check}/{finding.code}"
    return types.Diagnostic(
        range=lsp_range(document, finding.start, finding.end, capabilities.encoding),
        message=finding.message,
        severity=SEVERITIES[finding.severity],
        source=SOURCE,
        code=code or check,
        code_description=types.CodeDescription(verdict) if verdict and capabilities.code_description else None,
        related_information=_related_information(document, finding, line, published, capabilities),
        data={name: value for name, value in data.items() if value},
    )


def _related_information(
    document: Document, finding: Finding, line: str, published: PublishedFindings, capabilities: ClientCapabilities
) -> list[types.DiagnosticRelatedInformation] | None:
    """Return the line about the finding that prompts and the log have, the places in other files, and the change."""
    if not capabilities.related_information:
        return None
    related: list[types.DiagnosticRelatedInformation] = []
    if line:
        own_range = lsp_range(document, finding.start, finding.end, capabilities.encoding)
        related.append(types.DiagnosticRelatedInformation(types.Location(document.uri, own_range), line))
    for place in finding.related:
        position = types.Position(place.line - 1, 0)
        location = types.Location(Path(place.path).as_uri(), types.Range(position, position))
        related.append(types.DiagnosticRelatedInformation(location, place.message))
    if published.accepted:
        changed_range = lsp_range(document, *published.accepted, capabilities.encoding)
        location = types.Location(document.uri, changed_range)
        related.append(types.DiagnosticRelatedInformation(location, CAUSES[published.cause]))
    return related or None


def pack_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON, without its places in other files."""
    return {key.name: getattr(finding, key.name) for key in fields(finding) if key.name != "related"}


def unpack_finding(document: Document, packed: Any) -> Finding:
    """Return the finding that `pack_finding` packed.

    Raises:
        ValueError: It is none, or not about this text.
    """
    try:
        finding = Finding(**packed)
        is_inside = 0 <= finding.start <= finding.end <= len(document.data)
    except TypeError as error:
        raise ValueError("the finding is incomplete") from error
    if not is_inside:
        raise ValueError("the finding lies outside of the text")
    return finding


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
    """Convert a diagnostic of any server to a finding. One of ours, about this text, has the finding in its data."""
    is_ours = diagnostic.source == SOURCE
    if is_ours and value_at(diagnostic.data, "hash") == document.hash:
        with suppress(ValueError):
            return unpack_finding(document, value_at(diagnostic.data, "finding"))
    start, end = byte_span(document, diagnostic.range, encoding)
    source = str(value_at(diagnostic.data, "finding.source") or "") if is_ours else diagnostic.source or ""
    code = "" if diagnostic.code is None else str(diagnostic.code)
    return Finding(
        start=start,
        end=end,
        message=diagnostic.message,
        source=source,
        # ours begin with the name of the check
        code=code.rpartition("/")[2] if is_ours else code,
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
