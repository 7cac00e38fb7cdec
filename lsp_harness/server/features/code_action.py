"""`textDocument/codeAction`: what could be done about these diagnostics, offered at once and computed when chosen.

Editors ask it wherever the cursor comes to rest, which is as good a word as there is of where that is; a range with
something in it is a selection, or the whole text.
"""

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.pipeline.offers import Offer
from lsp_harness.server import commands, fixing
from lsp_harness.server.abilities import Abilities
from lsp_harness.server.client import Client
from lsp_harness.server.convert import finding, offset
from lsp_harness.text.document import Document

METHOD = types.TEXT_DOCUMENT_CODE_ACTION


async def run(
    client: Client, snapshot: Snapshot, params: types.CodeActionParams
) -> list[types.CodeAction | types.Command]:
    document, able = snapshot.document, client.able
    # the user may have typed on since this was asked
    if params.range.start == params.range.end and client.harness.current(document):
        client.harness.warm(document.uri, offset(document, params.range.end, able.encoding))
    only = params.context.only
    if document.binary or not params.context.diagnostics or not (only is None or any(map(_covers, only))):
        return []
    findings = [finding(document, found, able.encoding) for found in params.context.diagnostics]
    diagnostics = dict(zip(findings, params.context.diagnostics, strict=True))
    offers = await client.harness.offers(snapshot, findings)
    return [_action(document, offer, diagnostics.get(offer.finding), able) for offer in offers]


def _covers(kind: str) -> bool:
    """Whether a kind asked for includes quick fixes: kinds are a hierarchy, and the empty one is its root."""
    return kind in ("", "quickfix")


def _action(
    document: Document, offer: Offer, about: types.Diagnostic | None, able: Abilities
) -> types.CodeAction | types.Command:
    data = fixing.pack(document, offer)
    command = types.Command(offer.title, commands.FIX, arguments=[data])
    if not able.action_literals and not able.resolve_edit:
        return command
    return types.CodeAction(
        title=offer.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[about] if about else None,
        is_preferred=True if offer.how == "linter" else None,
        data=data,
        command=None if able.resolve_edit else command,
        tags=[types.CodeActionTag.LlmGenerated] if able.llm_tag and offer.how == "model" else None,
    )
