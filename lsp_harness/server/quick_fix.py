"""A fix between being offered and being in the document: all of it is in the action's `data`, nothing is kept here."""

from dataclasses import asdict, dataclass
from typing import Any, cast

from lsprotocol import types

from lsp_harness.errors import HarnessError, StaleDocument, UsageError
from lsp_harness.harness import diagnosis
from lsp_harness.harness.edit_verbs import Written
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import Note, verdict_uri, workspace_edit
from lsp_harness.session.results import FIX_SOURCES, FixOffer, Proposal, Report
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Fixed:
    """What came of an offer."""

    id: str
    summary: str
    edit: types.WorkspaceEdit
    verdict: str
    """URI of the document that tells what was tried and checked."""


def pack(document: Document, offer: FixOffer) -> dict[str, Any]:
    return {
        "uri": document.uri,
        "version": document.version,
        "hash": document.hash,
        "title": offer.title,
        "how": offer.source,
        "finding": asdict(offer.finding),
    }


def uri_of(data: Any) -> str:
    """The document an action is about. Raises UsageError."""
    uri = cast("dict[str, Any]", data).get("uri") if isinstance(data, dict) else None
    if not isinstance(uri, str):
        raise UsageError("this code action does not come from lsp-harness: its data names no document")
    return uri


def unpack(snapshot: Snapshot, data: Any) -> FixOffer:
    """The offer again. Raises StaleDocument when the text is another one now, UsageError when the data is not ours."""
    if data.get("hash") != snapshot.document.hash:
        raise StaleDocument("the document has changed since this fix was offered; request the code actions again")
    try:
        finding = Finding(**data["finding"])
        offer = FixOffer(title=str(data["title"]), source=data["how"], finding=finding)
        inside = 0 <= finding.start <= finding.end <= len(snapshot.document.data)
    except (KeyError, TypeError) as error:
        raise UsageError("the data of this code action is incomplete") from error
    if not inside or offer.source not in FIX_SOURCES:
        raise UsageError("the data of this code action was changed; it must be sent back as lsp-harness made it")
    return offer


async def fix(client: Client, snapshot: Snapshot, data: Any, report: Report, failing: str = "") -> Fixed:
    """Computes and verifies; `failing` is what a tool has printed. Raises StaleDocument when the document moved on meanwhile."""
    document, offer = snapshot.document, unpack(snapshot, data)
    output = await diagnosis.printed(snapshot, failing) if failing else None
    proposal = await client.harness.fix(snapshot, offer, report, output)
    # a client that cannot bind an edit to a version would apply this one to whatever text it has by now
    if client.live(document.uri).data != document.data:
        raise StaleDocument("the document changed while the edit was computed; request it again")
    return fixed(client, document, proposal)


def written(client: Client, made: Written) -> Fixed:
    """What a verb made, as the client gets it."""
    if made.new and not client.able.create_files:
        raise HarnessError("this editor cannot create a file on a server's request")
    return fixed(client, made.document, made.proposal, new=made.new)


def fixed(client: Client, document: Document, proposal: Proposal, *, new: bool = False) -> Fixed:
    """A proposal as the client gets it: annotated with its verdict, and to be confirmed as the settings say."""
    confirm = client.harness.config.edits.confirm
    note = Note(
        label=f"lsp-harness: {proposal.verdict.marks}",
        description=proposal.summary,
        confirm=confirm == "always" or (confirm == "model" and proposal.is_by_model),
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
    edit = workspace_edit(edits, client.able, note)
    if new:
        create = types.CreateFile(document.uri, options=types.CreateFileOptions(ignore_if_exists=True))
        edit.document_changes = [create, *(edit.document_changes or ())]
    return Fixed(proposal.id, proposal.summary, edit, verdict_uri(client.harness.verdict_name(proposal)))
