"""Quick fixes between the offer and the edit.

All state of an offer is in the `data` of its code action; the server keeps none.
"""

from dataclasses import asdict, dataclass
from typing import Any, cast

from lsprotocol import types

from lsp_harness.errors import HarnessError, StaleDocument, UsageError
from lsp_harness.harness.edits import diagnosis
from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import EditAnnotation, verdict_uri, workspace_edit
from lsp_harness.session.results import FIX_SOURCES, FixOffer, Proposal, Report
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot


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
        "finding": asdict(offer.finding),
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
        finding = Finding(**data["finding"])
        offer = FixOffer(title=str(data["title"]), source=data["how"], finding=finding)
        is_inside = 0 <= finding.start <= finding.end <= len(snapshot.document.data)
    except (KeyError, TypeError) as error:
        raise UsageError("the data of this code action is incomplete") from error
    if not is_inside or offer.source not in FIX_SOURCES:
        raise UsageError("the data of this code action was changed; it must be sent back as lsp-harness made it")
    return offer


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
    """Convert a proposal, annotated with its checks, if the permission gate allows it.

    The setting `edits.confirm` decides whether the user confirms it.

    Raises:
        UsageError: The settings do not allow the edit.
    """
    await client.harness.turns.require_permission(proposal)
    confirm = client.harness.config.edits.confirm
    annotation = EditAnnotation(
        label=f"lsp-harness: {proposal.verdict.marks}",
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
