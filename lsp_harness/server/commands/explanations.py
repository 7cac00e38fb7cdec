"""The commands whose result is a text or a place: nothing is changed by them."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.commands.command_arguments import (
    document_uri,
    first_argument,
    folder_uri,
    required_snapshot,
    selected_span,
    single_string,
    text_argument,
)
from lsp_harness.server.commands.command_registry import PaletteEntry, command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.json_value import value_at
from lsp_harness.server.lsp_conversion import lsp_range, verdict_name
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.coding.location.task_location import LocatedTask

COMMENT_TITLE = "Answer the comment"


@command(
    "lspHarness.explain",
    arguments="[{uri, range}]",
    description="explains these lines by the model",
    result="`text`: the explanation, in Markdown",
    document=document_uri,
    palette=PaletteEntry(
        title="Explain", result_title="Explanation", handler="text", sends_selection=True, needs_trust=True
    ),
)
async def explain(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    with show_progress(client, "Explain with lsp-harness", params.work_done_token) as report:
        return {"text": await client.harness.edits.explain(source, span, report)}


@command(
    "lspHarness.answerComment",
    arguments="[{uri, range}]",
    description="answers the [comment with `ai?`](actions.md#comments-that-ask) there by the model",
    result="`text`: the answer, in Markdown",
    document=document_uri,
    palette=PaletteEntry(
        title="Answer the Comment", result_title="Answer", handler="text", sends_selection=True, needs_trust=True
    ),
)
async def answer_comment(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    with show_progress(client, COMMENT_TITLE, params.work_done_token) as report:
        return {"text": await client.harness.edits.answer_comment(source, span, report)}


@command(
    "lspHarness.context",
    arguments="[{uri, range, task?}]",
    description=(
        "describes the prompt of a completion at the end of the range, or of an edit by the instruction `task`. "
        "If the engine does not answer, tokens are estimated, and the text says so"
    ),
    result=(
        "`text`: Markdown with the parts of the prompt, their source, reason and tokens, "
        "and whether they were evaluated or reused"
    ),
    document=document_uri,
    palette=PaletteEntry(
        title="Show What the Model Sees Here", result_title="Context", handler="text", sends_selection=True
    ),
)
async def context(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    task = value_at(first_argument(params), "task")
    if task is not None and not isinstance(task, str):
        raise UsageError(f"{params.command} needs a task as a string")
    with show_progress(client, "What the model sees", params.work_done_token):
        preview = await client.harness.preview()
        if task:
            prompt = await preview.edit(source, span, task)
        else:
            prompt = await preview.completion(source, span.end)
        return {"text": preview.render(prompt, *await preview.evaluate(prompt))}


@command(
    "lspHarness.why",
    arguments="[uri of a verdict]",
    description="returns the document of a verdict, for clients without `workspace/textDocumentContent`",
    result="`text`: the document, in Markdown",
)
async def why(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return {"text": client.harness.turns.verdict(verdict_name(single_string(params, "the URI of a verdict")))}


@command(
    "lspHarness.locate",
    arguments="[{task, uri?}]",
    description=(
        "finds the code that a task is about ([index](code-index.md#locate)), in the workspace folder of `uri` "
        "(a file or folder), which may be left out if there is one folder"
    ),
    result=(
        "`candidates`, the best first, at most eight: `uri`, `path`, `range` (whole lines), "
        "`symbol` (empty outside of declarations), `kind`, `signature`, `reasons`; "
        "`chosen`, the number of the chosen one from 0, and `by`: `index` or `model`"
    ),
    palette=PaletteEntry(title="Find Code for a Task…", handler="custom", needs_trust=True),
)
async def locate(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    # imported late, because it imports the parser
    from lsp_harness.coding.location.task_location import LocationRequest

    request = LocationRequest(text_argument(params, "task"), folder_uri(params))
    with show_progress(client, "Find with lsp-harness", params.work_done_token):
        located = await client.harness.tasks.locate(request)
    return location_result(client, located)


def location_result(client: EditorClient, located: "LocatedTask") -> dict[str, Any]:
    """Return the places of a task as JSON."""
    candidates = [
        {
            "uri": located.document(candidate).uri,
            "path": candidate.path,
            "range": lsp_range(located.document(candidate), *located.span(candidate), client.capabilities.encoding),
            "symbol": candidate.symbol,
            "kind": candidate.kind,
            "signature": candidate.signature,
            "reasons": [*candidate.reasons],
        }
        for candidate in located.ranking.candidates
    ]
    ranking = located.ranking
    return {"chosen": ranking.choice, "by": ranking.chooser, "doubt": ranking.doubt, "candidates": candidates}
