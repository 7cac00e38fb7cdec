"""The tools that check a text: the same verdict for every agent, in less than 200 tokens."""

from collections.abc import Sequence
from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from lsp_harness.mcp.call_progress import CallContext, follow_call
from lsp_harness.mcp.served_sessions import verdict_uri
from lsp_harness.mcp.text_verification import Replacement, TextVerdict, TextVerifier
from lsp_harness.verify.finding import Outcome
from lsp_harness.wire.verdict_words import BEHAVIOUR_CHECKS

MAX_FINDINGS = 4
MAX_FINDING_CHARS = 90
MAX_REASON_CHARS, MAX_TEST_REASON_CHARS = 45, 110
"""Most characters of a reason. That of the tests says why nobody knows what a text does."""
MAX_PATH_CHARS = 60

Path = Annotated[str, Field(description="The file, relative to the project")]


class TextEdit(BaseModel):
    """A replacement of text that occurs exactly once."""

    old: str = Field(description="Exact text to replace, copied from the file")
    new: str = Field(description="Text to put there")


class VerdictTools:
    """The tools that check a text. They write nothing.

    Args:
        verifier: Checks the texts.
    """

    def __init__(self, verifier: TextVerifier) -> None:
        self._verifier = verifier

    async def verify_file(self, context: CallContext, path: Path) -> CallToolResult:
        """Check a file as it is on disk by what is here: syntax, linter, types, its tests. Returns a short verdict.

        Its first word is passed only if tests ran the file. What did not run is listed as skipped, with the reason.
        """
        return _answer(await follow_call(context, lambda report: self._verifier.verify_file(path, report)))

    async def verify_change(
        self,
        context: CallContext,
        path: Path,
        text: Annotated[
            str | None, Field(description="The whole new text of the file. Leave it out with edits")
        ] = None,
        edits: Annotated[list[TextEdit] | None, Field(description="Replacements, one after another")] = None,
    ) -> CallToolResult:
        """Check a change of a file before it is written: nothing that was right may be wrong after it.

        Returns a verdict on exactly these bytes, each check with its status, and their hash. passed: tests ran the
        changed lines. form ✓: no test decided the behaviour. incomplete: only the syntax was looked at. Call it before
        you write, and again until nothing is failed. It writes nothing.
        """
        replacements = [Replacement(edit.old, edit.new) for edit in edits or ()]
        return _answer(
            await follow_call(context, lambda report: self._verifier.verify_change(path, text, replacements, report))
        )


def _answer(verdict: TextVerdict) -> CallToolResult:
    """Return a verdict as a text for models, and as an object for programs."""
    outcomes, hidden = verdict.verdict.outcomes, len(verdict.findings) - MAX_FINDINGS
    findings = [_shorten(line, MAX_FINDING_CHARS) for line in verdict.findings[:MAX_FINDINGS]]
    by_status = {
        status: [outcome for outcome in outcomes if outcome.status == status]
        for status in ("failed", "passed", "skipped")
    }
    path = verdict.path if len(verdict.path) <= MAX_PATH_CHARS else f"…{verdict.path[1 - MAX_PATH_CHARS :]}"
    lines = [f"{verdict.heading}: {path} {verdict.verdict.hash}"]
    for status, some in by_status.items():
        if some:
            shown = (f"{one.check} ({remark})" if (remark := _describe_remark(one)) else one.check for one in some)
            lines.append(f"{status}: {', '.join(shown)}")
    lines += findings
    if hidden > 0:
        lines.append(f"{hidden} more in {verdict_uri(verdict.document)}")
    fields: dict[str, Any] = {
        "verdict": verdict.word,
        "words": verdict.verdict.words,
        "path": path,
        "hash": verdict.verdict.hash,
        "checks": {outcome.check: outcome.status for outcome in outcomes},
        "findings": findings,
        "details": verdict_uri(verdict.document),
    }
    return CallToolResult(content=_as_texts(lines), structured_content=fields)


def _describe_remark(outcome: Outcome) -> str:
    """Return why a check was skipped, what part was checked, or which tests ran."""
    parts = [outcome.extent, outcome.reason if outcome.status == "skipped" or outcome.check in BEHAVIOUR_CHECKS else ""]
    limit = MAX_TEST_REASON_CHARS if outcome.check in BEHAVIOUR_CHECKS else MAX_REASON_CHARS
    return _shorten("; ".join(part for part in parts if part), limit)


def _as_texts(lines: Sequence[str]) -> list[Any]:
    return [TextContent(type="text", text="\n".join(lines))]


def _shorten(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
