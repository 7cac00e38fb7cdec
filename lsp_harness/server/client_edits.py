"""Edits on their way to the client: offers of quick fixes, checked edits in LSP terms, and requests to apply them.

All state of an offer is in the `data` of its code action; the server keeps none. When the client executed a command and
did not request an edit, the server asks it to apply one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_harness.errors import HarnessError, StaleDocument, UsageError
from lsp_harness.harness.edits import diagnosis
from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.kernel.results import FIX_SOURCES, FixOffer, Proposal, Report
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import (
    EditAnnotation,
    pack_finding,
    unpack_finding,
    verdict_uri,
    workspace_edit,
)
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot

EDIT_RESULT = (
    "`applied`, `summary`, `failureReason` and `verdict` (the URI of its [verdict](#verdicts)). "
    "The edit itself arrives by `workspace/applyEdit`"
)
"""The documentation of the result of `apply_edit`."""


TOOL_EDIT_TITLE = "lsp-harness: edit of"


@dataclass(frozen=True, slots=True)
class PreparedEdit:
    """A checked edit in LSP terms.

    Attributes:
        id: The id of the proposal. A client reports with it that the edit was applied.
        summary: One sentence about the edit.
        edit: The edit.
        verdict: The URI of the document with the candidates and their checks.
    """

    id: str
    summary: str
    edit: types.WorkspaceEdit
    verdict: str


def pack_offer(document: Document, offer: FixOffer) -> dict[str, Any]:
    """Return an offer as the `data` of a code action."""
    return {
        "uri": document.uri,
        "version": document.version,
        "hash": document.hash,
        "title": offer.title,
        "how": offer.source,
        "finding": pack_finding(offer.finding),
    }


def offer_uri(data: Any) -> str:
    """Return the URI of the document of an offer.

    Raises:
        UsageError: The data is not from `pack_offer`.
    """
    uri = cast("dict[str, Any]", data).get("uri") if isinstance(data, dict) else None
    if not isinstance(uri, str):
        raise UsageError("this code action does not come from lsp-harness: its data names no document")
    return uri


def unpack_offer(snapshot: Snapshot, data: Any) -> FixOffer:
    """Return the offer of a code action.

    Raises:
        StaleDocument: The text has changed since the offer.
        UsageError: The data is not from `pack_offer`.
    """
    if data.get("hash") != snapshot.document.hash:
        raise StaleDocument("the document has changed since this fix was offered; request the code actions again")
    try:
        finding = unpack_finding(snapshot.document, data["finding"])
        offer = FixOffer(title=str(data["title"]), source=data["how"], finding=finding)
    except (KeyError, ValueError) as error:
        raise UsageError("the data of this code action was changed; send it back as lsp-harness made it") from error
    if offer.source not in FIX_SOURCES:
        raise UsageError("the data of this code action was changed; send it back as lsp-harness made it")
    return offer


def pack_findings(document: Document, findings: Sequence[Finding], title: str) -> dict[str, Any]:
    """Return several findings as the argument of `lspHarness.fixAll`."""
    items = [pack_finding(finding) for finding in findings]
    return {"uri": document.uri, "hash": document.hash, "title": title, "findings": items}


def unpack_findings(snapshot: Snapshot, data: Any) -> list[Finding]:
    """Return the findings of `pack_findings`.

    Raises:
        StaleDocument: The text has changed since.
        UsageError: The data is not from `pack_findings`.
    """
    items = data.get("findings")
    if not isinstance(items, list):
        raise UsageError("the data of this code action is incomplete")
    return [
        unpack_offer(snapshot, {**data, "how": "model", "finding": item}).finding for item in cast("list[Any]", items)
    ]


async def compute_fix(
    client: EditorClient, snapshot: Snapshot, data: Any, report: Report, failing: str = ""
) -> PreparedEdit:
    """Compute and check the fix of an offer.

    Args:
        client: The client that gets the edit.
        snapshot: The document of the offer.
        data: The offer, from `pack_offer`.
        report: Is called with the progress.
        failing: The output of a tool about the document, or an empty string.

    Raises:
        StaleDocument: The text changed before or while the fix was computed.
    """
    document, offer = snapshot.document, unpack_offer(snapshot, data)
    digest = await diagnosis.read_output(snapshot, failing) if failing else None
    proposal = await client.harness.fixes.fix(snapshot, offer, report, digest)
    # a client that cannot bind an edit to a version would apply this one to whatever text it has by now
    if client.current_text(document.uri).data != document.data:
        raise StaleDocument("the document changed while the edit was computed; request it again")
    return await prepare_edit(client, document, proposal)


async def prepare_written_edit(client: EditorClient, written: DocumentEdit) -> PreparedEdit:
    """Convert an edit by instruction, which may create a file.

    Raises:
        HarnessError: The edit creates a file, and the client cannot create files; or the settings do not allow it.
    """
    if written.is_new and not client.capabilities.create_files:
        raise HarnessError("this editor cannot create a file on a server's request")
    return await prepare_edit(client, written.document, written.proposal, creates_file=written.is_new)


async def prepare_edit(
    client: EditorClient, document: Document, proposal: Proposal, *, creates_file: bool = False
) -> PreparedEdit:
    """Convert a proposal if the permission gate allows it.

    Raises:
        UsageError: The settings do not allow the edit.
    """
    await client.harness.turns.require_permission(proposal)
    return convert_edit(client, document, proposal, creates_file=creates_file)


def convert_edit(
    client: EditorClient, document: Document, proposal: Proposal, *, creates_file: bool = False
) -> PreparedEdit:
    """Convert a proposal that the permission gate allowed, annotated with its checks.

    The setting `edits.confirm` decides whether the user confirms it.
    """
    confirm = client.harness.config.edits.confirm
    annotation = EditAnnotation(
        label=f"lsp-harness: {proposal.verdict.label}",
        description=proposal.summary,
        needs_confirmation=confirm == "always" or (confirm == "model" and proposal.is_by_model),
    )
    # a file that is not open has no version
    edits = [
        (
            change.before,
            change.edits,
            client.version_of(change.before) if change.before.uri in client.harness.documents else None,
        )
        for change in proposal.changes
    ]
    edit = workspace_edit(edits, client.capabilities, annotation)
    if creates_file:
        create = types.CreateFile(document.uri, options=types.CreateFileOptions(ignore_if_exists=True))
        edit.document_changes = [create, *(edit.document_changes or ())]
    return PreparedEdit(proposal.id, proposal.summary, edit, verdict_uri(client.harness.turns.verdict_name(proposal)))


def check_apply_edit(client: EditorClient) -> None:
    """Check that the client can apply an edit, before an edit is computed.

    Raises:
        HarnessError: The client cannot apply edits.
    """
    if not client.capabilities.apply_edit:
        raise HarnessError("this editor does not apply edits that a server requests (workspace/applyEdit)")


async def apply_edit(client: EditorClient, uri: str, edit: PreparedEdit, label: str) -> dict[str, Any]:
    """Send an edit to the client and return the outcome, which is the result of the command.

    Args:
        client: The client that applies the edit.
        uri: The document of the edit.
        edit: The edit.
        label: The name of the edit, for example in the undo menu of the client.
    """
    params = types.ApplyWorkspaceEditParams(edit=edit.edit, label=label)
    outcome = await client.server.workspace_apply_edit_async(params)
    if outcome.applied:
        client.harness.record(uri, edit.id, "applied")
    return {
        "applied": outcome.applied,
        "summary": edit.summary,
        "failureReason": outcome.failure_reason,
        "verdict": edit.verdict,
    }


async def change_open_text(client: EditorClient, document: Document, edits: Sequence[Edit]) -> str:
    """Let the client change an open text for a tool of a session, and return why it did not."""
    edit = workspace_edit([(document, edits, client.version_of(document))], client.capabilities)
    params = types.ApplyWorkspaceEditParams(edit=edit, label=f"{TOOL_EDIT_TITLE} {PurePosixPath(document.uri).name}")
    try:
        outcome = await client.server.workspace_apply_edit_async(params)
    except JsonRpcException as error:
        return str(error)
    return "" if outcome.applied else outcome.failure_reason or "it gave no reason"
