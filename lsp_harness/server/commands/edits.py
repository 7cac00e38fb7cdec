"""The commands that write an edit: by an instruction, a docstring, tests, an action of the project or a comment.

Also the commands about edits that this server has proposed, which a client applies, reports as applied, or refuses.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import DocumentEdit, find_proposal, reject_proposal
from lsp_harness.kernel.results import Report
from lsp_harness.server.client_edits import (
    EDIT_RESULT,
    apply_edit,
    check_apply_edit,
    prepare_written_edit,
)
from lsp_harness.server.commands.command_arguments import (
    SessionArguments,
    document_uri,
    folder_uri,
    has_range,
    required_snapshot,
    selected_span,
    text_argument,
    tool_output,
    uri_and_id,
)
from lsp_harness.server.commands.command_registry import PaletteEntry, command
from lsp_harness.server.commands.explanations import location_result
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

EditRequest = Callable[[Snapshot, Span, Report], Awaitable[DocumentEdit]]

TITLE = "Edit with lsp-harness"
COMMENT_TITLE = "Do what the comment says"


async def execute_edit(
    client: EditorClient,
    snapshot: Snapshot | None,
    params: types.ExecuteCommandParams,
    title: str,
    request_edit: EditRequest,
) -> dict[str, Any]:
    """Compute an edit of the selected lines with progress, and apply it.

    Raises:
        HarnessError: The client cannot apply edits, or no edit was found.
    """
    check_apply_edit(client)
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    with show_progress(client, title, params.work_done_token) as report:
        written = await request_edit(source, span, report)
    return await apply_edit(client, written.document.uri, await prepare_written_edit(client, written), title)


def _uri_of_lines(params: types.ExecuteCommandParams) -> str | None:
    return document_uri(params) if has_range(params) else None


@command(
    "lspHarness.instruct",
    arguments="[{uri, range, instruction, failing?}]",
    description=(
        "edits these lines by an instruction; `failing` is the output of a tool about them. "
        "Without `range` (`uri` is optional as well), the server finds the code as `lspHarness.locate` does"
    ),
    result=f"{EDIT_RESULT}. Without `range` also `located`, the answer of the search",
    document=_uri_of_lines,
    palette=PaletteEntry(title="Edit by Instruction…", handler="custom", needs_trust=True),
)
async def instruct(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    """Edit some lines by an instruction. If the client does not name the lines, the server finds them."""
    if not has_range(params):
        return await _edit_located_code(client, params)

    def request_edit(source: Snapshot, span: Span, report: Report) -> Awaitable[DocumentEdit]:
        return client.harness.edits.instruct(source, span, text_argument(params), report, tool_output(params))

    return await execute_edit(client, snapshot, params, TITLE, request_edit)


async def _edit_located_code(client: EditorClient, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Find the code that the instruction is about, edit it, and add the answer of the search to the result."""
    # imported late, because it imports the parser
    from lsp_harness.coding.location.task_location import LocationRequest

    check_apply_edit(client)
    request, failing = LocationRequest(text_argument(params), folder_uri(params)), tool_output(params)
    with show_progress(client, TITLE, params.work_done_token) as report:
        written, located = await client.harness.tasks.instruct(request, report, failing)
    outcome = await apply_edit(client, written.document.uri, await prepare_written_edit(client, written), TITLE)
    return {**outcome, "located": location_result(client, located)}


@command(
    "lspHarness.docstring",
    arguments="[{uri, range}]",
    description="writes a docstring for the function there",
    result=EDIT_RESULT,
    document=document_uri,
    palette=PaletteEntry(
        title="Write a Docstring", result_title="Docstring", handler="edit", sends_selection=True, needs_trust=True
    ),
)
async def docstring(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    return await execute_edit(client, snapshot, params, "Docstring with lsp-harness", client.harness.edits.docstring)


@command(
    "lspHarness.tests",
    arguments="[{uri, range}]",
    description="writes tests of the function there (Python), into the test file of the module or a new one",
    result=EDIT_RESULT,
    document=document_uri,
    palette=PaletteEntry(
        title="Write Tests", result_title="Tests", handler="edit", sends_selection=True, needs_trust=True
    ),
)
async def write_tests(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    return await execute_edit(client, snapshot, params, "Tests with lsp-harness", client.harness.edits.tests)


@command(
    "lspHarness.action",
    arguments="[{uri, range, name}]",
    description="edits these lines by an [action of the project](actions.md)",
    result=EDIT_RESULT,
    document=document_uri,
)
async def run_action(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    name = text_argument(params, "name")

    def request_edit(source: Snapshot, span: Span, report: Report) -> Awaitable[DocumentEdit]:
        return client.harness.edits.run_action(source, span, name, report)

    return await execute_edit(client, snapshot, params, f"{name} with lsp-harness", request_edit)


@command(
    "lspHarness.doComment",
    arguments="[{uri, range}]",
    description="does what the [comment with `ai!`](actions.md#comments-that-ask) there says, and removes the comment",
    result=EDIT_RESULT,
    document=document_uri,
    palette=PaletteEntry(
        title="Do What the Comment Says", result_title="Edit", handler="edit", sends_selection=True, needs_trust=True
    ),
)
async def do_comment(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    return await execute_edit(client, snapshot, params, COMMENT_TITLE, client.harness.edits.follow_comment)


@command(
    "lspHarness.applied",
    arguments="[uri, proposalId]",
    description="reports that an edit was applied; the server also notices it from the text",
    result="null",
)
async def applied(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    """Record that an edit was applied. Clients run the command of a resolved code action."""
    client.harness.record(*uri_and_id(params), "applied")


@command(
    "lspHarness.edit.apply",
    arguments="[{uri, proposalId}]",
    description="applies a proposal of this server that is not applied yet",
    result=EDIT_RESULT,
)
async def apply(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    check_apply_edit(client)
    written = find_proposal(client.harness.documents.find(arguments.text("uri")), arguments.text("proposalId"))
    edit = await prepare_written_edit(client, written)
    return await apply_edit(client, written.document.uri, edit, TITLE)


@command(
    "lspHarness.edit.reject",
    arguments="[{uri, proposalId, reason?}]",
    description="reports that the user refused a proposal of this server",
    result="null",
)
async def reject(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    opened, reason = client.harness.documents.find(arguments.text("uri")), arguments.text("reason", "")
    client.harness.fixes.unlearn(reject_proposal(opened, arguments.text("proposalId"), reason))
