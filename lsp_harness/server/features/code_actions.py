"""Code actions: offers of fixes and of edits of a selection. Their edits are computed when chosen.

Editors request the offers wherever the cursor comes to rest, so an empty range is taken as the place of the cursor. A
range with text is a selection, or the whole text.
"""

from collections.abc import Sequence

from lsprotocol import types

from lsp_harness.kernel.results import FixOffer
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.client_edits import (
    PreparedEdit,
    compute_fix,
    convert_edit,
    offer_uri,
    pack_findings,
    pack_offer,
)
from lsp_harness.server.commands import edits as edit_commands
from lsp_harness.server.commands import explanations
from lsp_harness.server.commands import fixes as fix_commands
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.features.feature_binding import feature, refuse
from lsp_harness.server.json_value import value_at
from lsp_harness.server.lsp_conversion import SOURCE, byte_offset, byte_span, lsp_diagnostics, to_finding
from lsp_harness.server.progress import show_progress
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.workspace.snapshot import Snapshot

ASK_INSTRUCTION = "lspHarness.askInstruction"
"""A command of the client: it asks the user for an instruction and then executes `lspHarness.instruct`."""
VERBS: dict[str, tuple[str, str, str]] = {
    "instruct": ("Edit with lsp-harness…", "refactor.rewrite", ASK_INSTRUCTION),
    "docstring": ("Write a docstring with lsp-harness", "refactor.rewrite", edit_commands.docstring.name),
    "tests": ("Write tests with lsp-harness", "refactor", edit_commands.write_tests.name),
    "explain": ("Explain with lsp-harness", "refactor", explanations.explain.name),
}
"""The title, the kind and the command of each action for a selection."""
Action = types.CodeAction | types.Command


@feature(types.TEXT_DOCUMENT_CODE_ACTION)
async def offer_actions(client: EditorClient, snapshot: Snapshot, params: types.CodeActionParams) -> list[Action]:
    """Offer fixes of diagnostics and edits of a selection."""
    document, encoding = snapshot.document, client.capabilities.encoding
    # if the user has typed since the request, the place is old
    if params.range.start == params.range.end and client.harness.documents.is_current(document):
        client.harness.completions.warm(document.uri, byte_offset(document, params.range.end, encoding))
    if document.is_binary:
        return []
    return [*await _fix_actions(client, snapshot, params), *_verb_actions(client, snapshot, params)]


async def _fix_actions(client: EditorClient, snapshot: Snapshot, params: types.CodeActionParams) -> list[Action]:
    document, capabilities = snapshot.document, client.capabilities
    if not _is_requested(params, "quickfix"):
        return []
    diagnostics = [*params.context.diagnostics, *_own_diagnostics(client, snapshot, params)]
    if not diagnostics:
        return await _own_fix_actions(client, snapshot, params)
    harness_fixes = client.harness.fixes
    reported = await harness_fixes.name_by_code(
        [to_finding(document, diagnostic, capabilities.encoding) for diagnostic in diagnostics]
    )
    # one problem that several servers report gets one fix
    problems = harness_fixes.join_problems(snapshot, reported)
    diagnostics_of = {
        problem.main: [d for finding, d in zip(reported, diagnostics, strict=True) if finding in problem.findings]
        for problem in problems
    }
    findings = [*diagnostics_of]
    offers = await harness_fixes.offer(snapshot, findings)
    if params.context.trigger_kind != types.CodeActionTriggerKind.Automatic:
        harness_fixes.prepared.count_offers(snapshot, offers)
    # for the next time, if they still stand
    harness_fixes.prepared.record(snapshot, findings)
    fixes = _join_equal([_fix_action(client, snapshot, offer, diagnostics_of.get(offer.finding)) for offer in offers])
    if capabilities.apply_edit:
        fixes += await _fix_all_actions(client, snapshot, findings)
    return fixes + [action for diagnostic in diagnostics for action in _why_actions(diagnostic, capabilities)]


async def _own_fix_actions(client: EditorClient, snapshot: Snapshot, params: types.CodeActionParams) -> list[Action]:
    """Return fixes of what our own checks find on the lines of a request that brings no diagnostics.

    The user has asked for them: an editor that only wants to show a light bulb gets none.
    """
    if params.context.trigger_kind != types.CodeActionTriggerKind.Invoked:
        return []
    document, fixes = snapshot.document, client.harness.fixes
    start, end = byte_span(document, params.range, client.capabilities.encoding)
    lines = range(document.line_of(start), document.line_of(end) + 1)
    examined = await fixes.diagnose(snapshot)
    findings = [finding for finding in examined.findings if document.line_of(finding.start) in lines]
    return [_fix_action(client, snapshot, offer, None) for offer in await fixes.offer(snapshot, findings)]


def _own_diagnostics(
    client: EditorClient, snapshot: Snapshot, params: types.CodeActionParams
) -> list[types.Diagnostic]:
    """Return our errors at the place of a request that the client did not send, as some send only those of a cursor."""
    document, capabilities, sent = snapshot.document, client.capabilities, params.context.diagnostics
    foreign = [to_finding(document, each, capabilities.encoding) for each in sent if each.source != SOURCE]
    if foreign:
        client.harness.open_findings.record_foreign(document, foreign)
    own = lsp_diagnostics(document, PublishedFindings(0), capabilities, client.harness.open_findings.find(document))
    lines = range(params.range.start.line, params.range.end.line + 1)
    known = {(each.range.start.line, each.range.start.character, each.message) for each in sent}
    return [
        each
        for each in own
        if each.range.start.line in lines
        and (each.range.start.line, each.range.start.character, each.message) not in known
    ]


def _join_equal(actions: Sequence[Action]) -> list[Action]:
    """Return actions of which no two do the same: with one edit, or with one title at one line."""
    joined: dict[object, Action] = {}
    for action in actions:
        place = value_at(action.data, "finding.start") if isinstance(action, types.CodeAction) else None
        has_edit = isinstance(action, types.CodeAction) and action.edit is not None
        key = repr(action.edit) if isinstance(action, types.CodeAction) and has_edit else (action.title, place)
        known = joined.setdefault(key, action)
        if known is not action and isinstance(known, types.CodeAction) and isinstance(action, types.CodeAction):
            known.diagnostics = [*(known.diagnostics or ()), *(action.diagnostics or ())] or None
    return [*joined.values()]


async def _fix_all_actions(client: EditorClient, snapshot: Snapshot, findings: list[Finding]) -> list[Action]:
    """Return an action for each rule of which the text has several findings."""
    actions: list[Action] = []
    for group in await client.harness.fixes.find_alike(snapshot, findings):
        title = f"Fix all {len(group)} of {group[0].code} in this file with lsp-harness"
        argument = pack_findings(snapshot.document, group, title)
        command = types.Command(title, fix_commands.fix_all.name, arguments=[argument])
        actions.append(_command_action(command, "quickfix", client.capabilities))
    return actions


def _verb_actions(client: EditorClient, snapshot: Snapshot, params: types.CodeActionParams) -> list[Action]:
    capabilities, document = client.capabilities, snapshot.document
    if not capabilities.apply_edit or not any(_is_requested(params, kind) for _, kind, _ in VERBS.values()):
        return []
    span = Span(*byte_span(document, params.range, capabilities.encoding))
    actions: list[Action] = []
    for verb in client.harness.edits.available(snapshot, span):
        title, kind, name = VERBS[verb]
        if (verb == "instruct" and name not in capabilities.commands) or not _is_requested(params, kind):
            continue
        argument = {"uri": document.uri, "range": params.range}
        actions.append(_command_action(types.Command(title, name, arguments=[argument]), kind, capabilities))
    return [*actions, *_request_actions(client, snapshot, span, params)]


def _request_actions(
    client: EditorClient, snapshot: Snapshot, span: Span, params: types.CodeActionParams
) -> list[Action]:
    """Return the actions that the settings define, and the one for a comment that asks for something."""
    place, edits = {"uri": snapshot.document.uri, "range": params.range}, client.harness.edits
    commands: list[tuple[types.Command, str]] = []
    if request := edits.comment_request(snapshot, span):
        title = explanations.COMMENT_TITLE if request.is_question else edit_commands.COMMENT_TITLE
        asked = explanations.answer_comment if request.is_question else edit_commands.do_comment
        kind = "refactor" if request.is_question else "refactor.rewrite"
        commands.append((types.Command(title, asked.name, arguments=[place]), kind))
    for action in edits.actions(snapshot):
        argument = {**place, "name": action.name}
        command = types.Command(action.title, edit_commands.run_action.name, arguments=[argument])
        commands.append((command, "refactor.rewrite"))
    return [
        _command_action(command, kind, client.capabilities) for command, kind in commands if _is_requested(params, kind)
    ]


def _is_requested(params: types.CodeActionParams, kind: str) -> bool:
    """Return whether the client requests actions of a kind. Kinds are a hierarchy, and the empty one is its root."""
    only: Sequence[str] | None = params.context.only
    return only is None or any(parent in ("", kind) or kind.startswith(f"{parent}.") for parent in only)


def _why_actions(diagnostic: types.Diagnostic, capabilities: ClientCapabilities) -> list[Action]:
    """Return an action that shows the verdict of one of our own diagnostics, or an empty list."""
    verdict = value_at(diagnostic.data, "verdict") if diagnostic.source == SOURCE else None
    if not isinstance(verdict, str):
        return []
    command = types.Command("Why lsp-harness says this", explanations.why.name, arguments=[verdict])
    return [_command_action(command, "quickfix", capabilities, diagnostic)]


def _command_action(
    command: types.Command, kind: str, capabilities: ClientCapabilities, diagnostic: types.Diagnostic | None = None
) -> Action:
    if not capabilities.action_literals:
        return command
    diagnostics = [diagnostic] if diagnostic else None
    return types.CodeAction(title=command.title, kind=kind, diagnostics=diagnostics, command=command)


def _fix_action(
    client: EditorClient, snapshot: Snapshot, offer: FixOffer, diagnostics: list[types.Diagnostic] | None
) -> Action:
    """Return the action of an offer. If its fix is ready, the action has the edit, and its title says what passed."""
    document, capabilities = snapshot.document, client.capabilities
    fix = client.harness.fixes.prepared.find(snapshot, offer.finding)
    is_ready = fix is not None and fix.offer.source == offer.source
    title = fix.title if fix and is_ready else offer.title
    data = pack_offer(document, offer)
    command = types.Command(title, fix_commands.fix.name, arguments=[data])
    if not capabilities.action_literals and not capabilities.resolve_edit:
        return command
    action = types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=diagnostics,
        is_preferred=True if offer.source != "model" else None,
        data=data,
        command=None if capabilities.resolve_edit else command,
        tags=[types.CodeActionTag.LlmGenerated] if capabilities.llm_tag and offer.source == "model" else None,
    )
    if fix and is_ready:
        edit = convert_edit(client, document, fix.proposal)
        action.edit, action.command = edit.edit, _applied_command(client, document, edit)
    return action


def _applied_command(client: EditorClient, document: Document, edit: PreparedEdit) -> types.Command | None:
    """Return the command that a client executes when the edit of an action is in the document, if it does that."""
    if not client.capabilities.resolve_command:
        return None
    return types.Command("Applied", edit_commands.applied.name, arguments=[document.uri, edit.id])


def _uri_of_offer(params: types.CodeAction) -> str | None:
    """Return the document of the offer, or None for an action that is only a command: some clients resolve it too."""
    return None if params.data is None and params.command else offer_uri(params.data)


@feature(types.CODE_ACTION_RESOLVE, document_uri=_uri_of_offer, answer_out_of_sync=refuse)
async def resolve_action(client: EditorClient, snapshot: Snapshot | None, params: types.CodeAction) -> types.CodeAction:
    """Compute and check the edit of a chosen fix, with progress that can be cancelled."""
    if snapshot is None:
        return params
    with show_progress(client, params.title) as report:
        fix = await compute_fix(client, snapshot, params.data, report)
    params.edit = fix.edit
    params.command = _applied_command(client, snapshot.document, fix) or params.command
    return params
