"""`lspHarness.instruct`: an instruction in words about some lines becomes a verified edit of them."""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.harness import verbs
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.pipeline.offers import Report
from lsp_harness.server import commands
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import about, failing, words
from lsp_harness.server.execute.writing import write
from lsp_harness.text.position import Span

COMMAND = commands.INSTRUCT
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    def told(harness: Harness, found: Snapshot, span: Span, report: Report) -> Awaitable[verbs.Written]:
        return verbs.instruct(harness, found, span, words(params), report, failing(params))

    return await write(client, snapshot, params, "Edit with lsp-harness", told)
