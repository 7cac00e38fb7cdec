"""`textDocument/codeAction`: what could be done about these diagnostics, offered at once and computed when chosen.

Editors ask it wherever the cursor comes to rest, which is as good a word as there is of where that is; a range with
something in it is a selection, or the whole text.
"""

from collections.abc import Sequence

from lsprotocol import types

from lsp_harness.harness import edit_verbs
from lsp_harness.server import command_names, quick_fix
from lsp_harness.server.client_capabilities import Abilities, at
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import SOURCE, finding, offset, span
from lsp_harness.session.results import FixOffer
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_CODE_ACTION
VERBS: dict[edit_verbs.Verb, tuple[str, str, str]] = {
    "instruct": ("Edit with lsp-harness…", "refactor.rewrite", command_names.ASK_INSTRUCTION),
    "docstring": ("Write a docstring with lsp-harness", "refactor.rewrite", command_names.DOCSTRING),
    "tests": ("Write tests with lsp-harness", "refactor", command_names.TESTS),
    "explain": ("Explain with lsp-harness", "refactor", command_names.EXPLAIN),
}
"""Title, kind and command of each."""


async def run(
    client: Client, snapshot: Snapshot, params: types.CodeActionParams
) -> list[types.CodeAction | types.Command]:
    document, able = snapshot.document, client.able
    # the user may have typed on since this was asked
    if params.range.start == params.range.end and client.harness.documents.is_current(document):
        client.harness.warm(document.uri, offset(document, params.range.end, able.encoding))
    if document.is_binary:
        return []
    only = params.context.only
    return [*await _fixes(client, snapshot, params, only), *_verbs(client, snapshot, params, only)]


async def _fixes(
    client: Client, snapshot: Snapshot, params: types.CodeActionParams, only: Sequence[str] | None
) -> list[types.CodeAction | types.Command]:
    document, able, diagnostics = snapshot.document, client.able, params.context.diagnostics
    if not diagnostics or not _wanted(only, "quickfix"):
        return []
    # what two sources say of one place, ours and a linter's, wants one fix
    about: dict[tuple[int, str], tuple[Finding, list[types.Diagnostic]]] = {}
    for each in diagnostics:
        found = finding(document, each, able.encoding)
        about.setdefault((found.start, found.code or found.message), (found, []))[1].append(each)
    offers = await client.harness.offers(snapshot, [found for found, _ in about.values()])
    mends = dict(about.values())
    actions = [_action(document, offer, mends.get(offer.finding), able) for offer in offers]
    return actions + [action for each in diagnostics for action in _why(each, able)]


def _verbs(
    client: Client, snapshot: Snapshot, params: types.CodeActionParams, only: Sequence[str] | None
) -> list[types.CodeAction | types.Command]:
    able, document = client.able, snapshot.document
    if not able.apply_edit or not any(_wanted(only, kind) for _, kind, _ in VERBS.values()):
        return []
    place = Span(*span(document, params.range, able.encoding))
    found: list[types.CodeAction | types.Command] = []
    for verb in edit_verbs.offered(client.harness, snapshot, place):
        title, kind, name = VERBS[verb]
        if (verb == "instruct" and name not in able.commands) or not _wanted(only, kind):
            continue
        argument = {"uri": document.uri, "range": params.range}
        found.append(_command(title, kind, types.Command(title, name, arguments=[argument]), able))
    return found


def _wanted(only: Sequence[str] | None, kind: str) -> bool:
    """Whether a kind is among those asked for: kinds are a hierarchy, and the empty one is its root."""
    return only is None or any(wish in ("", kind) or kind.startswith(f"{wish}.") for wish in only)


def _why(diagnostic: types.Diagnostic, able: Abilities) -> list[types.CodeAction | types.Command]:
    """For what we said ourselves: how that was found out."""
    verdict = at(diagnostic.data, "verdict") if diagnostic.source == SOURCE else None
    if not isinstance(verdict, str):
        return []
    command = types.Command("Why lsp-harness says this", command_names.WHY, arguments=[verdict])
    return [_command(command.title, "quickfix", command, able, diagnostic)]


def _command(
    title: str, kind: str, command: types.Command, able: Abilities, about: types.Diagnostic | None = None
) -> types.CodeAction | types.Command:
    if not able.action_literals:
        return command
    return types.CodeAction(title=title, kind=kind, diagnostics=[about] if about else None, command=command)


def _action(
    document: Document, offer: FixOffer, about: list[types.Diagnostic] | None, able: Abilities
) -> types.CodeAction | types.Command:
    data = quick_fix.pack(document, offer)
    command = types.Command(offer.title, command_names.FIX, arguments=[data])
    if not able.action_literals and not able.resolve_edit:
        return command
    return types.CodeAction(
        title=offer.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=about,
        is_preferred=True if offer.source != "model" else None,
        data=data,
        command=None if able.resolve_edit else command,
        tags=[types.CodeActionTag.LlmGenerated] if able.llm_tag and offer.source == "model" else None,
    )
