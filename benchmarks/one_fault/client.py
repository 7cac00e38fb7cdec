"""Attempts through a server process and an LSP client: open, code actions, resolve, apply."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.one_fault.attempts import LIMIT_S, Attempt, own_diagnostic, write_case
from benchmarks.one_fault.case import Case, Diagnostic
from lsp_harness.cli.lsp_client import LspClient
from lsp_harness.errors import HarnessError
from lsp_harness.text.document import Document

SEVERITIES = {"error": 1, "warning": 2, "information": 3, "hint": 4}


class Session:
    """A server with one workspace, in which each case is a folder."""

    def __init__(self, client: LspClient, root: Path) -> None:
        self._client = client
        self._root = root

    @classmethod
    @asynccontextmanager
    async def started(cls, root: Path) -> AsyncGenerator["Session"]:
        async with LspClient.start(root) as client:
            yield cls(client, root)

    async def attempt(self, case: Case, *, stale: bool = False) -> Attempt:
        """Take the first quick fix that resolves to an edit."""
        diagnostic = case.diagnostic or await own_diagnostic(case, self._root)
        if diagnostic is None:
            return Attempt(None, 0.0, "the product finds no fault in this text", None)
        text = case.truth if stale else case.text
        uri = self._client.open(write_case(case, text, self._root), text, case.language)
        began = perf_counter()
        try:
            async with asyncio.timeout(LIMIT_S):
                proposed, reason = await self._mended(uri, diagnostic, case.text)
        except TimeoutError:
            proposed, reason = None, f"no answer in {LIMIT_S} s"
        except HarnessError as error:
            proposed, reason = None, error.message
        finally:
            self._client.close(uri)
        return Attempt(proposed, (perf_counter() - began) * 1000, reason, None, diagnostic)

    async def _mended(self, uri: str, diagnostic: Diagnostic, faulty: str) -> tuple[str | None, str]:
        # the diagnostic is of the faulty text, whatever is in the editor by now
        place = _make_range(Document.from_text(uri, faulty), diagnostic)
        said = {
            "range": place,
            "message": diagnostic.message,
            "source": diagnostic.source,
            "severity": SEVERITIES.get(diagnostic.severity, 1),
        }
        if diagnostic.code:
            said["code"] = diagnostic.code
        context = {"diagnostics": [said], "only": ["quickfix"], "triggerKind": 1}
        params = {"textDocument": {"uri": uri}, "range": place, "context": context}
        actions = await self._client.request("textDocument/codeAction", params)
        reason = "no action was offered"
        for action in actions or []:
            if action.get("data") is None and action.get("edit") is None:
                continue
            try:
                resolved = await self._client.request("codeAction/resolve", action)
            except HarnessError as error:
                reason = error.message
                continue
            if edit := resolved.get("edit"):
                return self._client.apply_edit(edit), str(action["title"])
        return None, reason


def _make_range(document: Document, diagnostic: Diagnostic) -> dict[str, Any]:
    start, end = document.position(diagnostic.start, "utf-16"), document.position(diagnostic.end, "utf-16")
    return {
        "start": {"line": start.line, "character": start.character},
        "end": {"line": end.line, "character": end.character},
    }
