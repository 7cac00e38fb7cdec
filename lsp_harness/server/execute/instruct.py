"""`lspHarness.instruct`: an instruction in words about some lines becomes a verified edit of them. Whoever does not say which lines
is told which they are."""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.harness import verbs
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.pipeline.offers import Report
from lsp_harness.server import commands, progress
from lsp_harness.server.applying import apply, check_able
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import about, failing, nearby, placed, words
from lsp_harness.server.execute.locate import told
from lsp_harness.server.execute.writing import write
from lsp_harness.server.fixing import written
from lsp_harness.text.position import Span

COMMAND = commands.INSTRUCT
TITLE = "Edit with lsp-harness"


def document(params: types.ExecuteCommandParams) -> str | None:
    return about(params) if placed(params) else None


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    if not placed(params):
        return await _located(client, params)

    def edited(harness: Harness, found: Snapshot, span: Span, report: Report) -> Awaitable[verbs.Written]:
        return verbs.instruct(harness, found, span, words(params), report, failing(params))

    return await write(client, snapshot, params, TITLE, edited)


async def _located(client: Client, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """What became of it, and what it was taken to be about, among what else."""
    # not before it is asked for: with it comes the parser
    from lsp_harness.harness import locating

    check_able(client)
    instruction, uri, said = words(params), nearby(params), failing(params)
    with progress.shown(client, TITLE, params.work_done_token) as report:
        made, found = await locating.instruct(client.harness, instruction, uri, report, said)
    return {**await apply(client, made.document.uri, written(client, made), TITLE), "located": told(client, found)}
