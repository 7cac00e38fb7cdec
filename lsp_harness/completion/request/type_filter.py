"""The effect of the type gate on a suggestion: all of it, its first lines or nothing is shown."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from lsp_harness.completion.request.answer_cache import ModelText
from lsp_harness.completion.request.text_generation import find_valid_start
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.types.type_gate import NAME, TypeGate
from lsp_harness.workspace.cursor import Cursor

TypeResult = Literal["passed", "cut", "hidden", "skipped"]
"""The result of the type gate for a suggestion. A skipped one is shown as it is."""


class FilteredText(NamedTuple):
    """A suggestion after the type gate.

    Attributes:
        text: The text that may be shown, or None.
        rule: The rule that hides it, or an empty text.
        figures: The result for the figures of the suggestion.
    """

    text: str | None
    rule: str = ""
    figures: Mapping[str, Any] = MappingProxyType({})


class TypeFilter:
    """Cuts or hides suggestions that would add a type error.

    Args:
        gate: The type gate. None lets everything pass.
        record: Called with the result for each suggestion.
    """

    def __init__(self, gate: TypeGate | None = None, record: Callable[[TypeResult], None] = lambda result: None):
        self._gate = gate
        self._record = record

    def prepare(self, document: Document) -> None:
        """Let the type checker look at a text while the model writes."""
        if self._gate:
            self._gate.prepare(document)

    async def narrow(self, cursor: Cursor, text: str | None, answer: ModelText, rule: str = "") -> FilteredText:
        """Return as many leading lines of a text as add no type error.

        Args:
            cursor: The place.
            text: The text, or None.
            answer: The answer of the model that the text was made from. A limit may have cut it within a name.
            rule: The rule that hides the text already, or an empty text.
        """
        if not text or rule or not self._gate:
            return FilteredText(text, rule)
        [outcome] = await self._gate.check(cursor, [text], is_cut=answer.stop in ("deadline", "limit"))
        first, ms, remaining_text, result = outcome, outcome.ms, text, _result(outcome)
        while outcome.status == "failed":
            remaining_text = _cut_before_error(cursor, remaining_text, outcome)
            if not remaining_text:
                result = "hidden"
                break
            [outcome] = await self._gate.check(cursor, [remaining_text])
            ms += outcome.ms
            # a start that was not checked in time has none of the known errors, but perhaps others
            result = "cut" if outcome.status == "passed" else "hidden"
        self._record(result)
        figures: dict[str, Any] = {NAME: result, f"{NAME}_ms": round(ms, 1)}
        if first.status != "passed":
            figures[f"{NAME}_reason"] = first.findings[0].message if first.findings else first.reason
        return FilteredText(None, NAME, figures) if result == "hidden" else FilteredText(remaining_text, "", figures)

    async def narrow_all(
        self, cursor: Cursor, texts: Sequence[str | None], answers: Sequence[ModelText]
    ) -> Sequence[str]:
        """Return what is left of several texts, without those of which nothing is left."""
        pairs = zip(texts, answers, strict=True)
        return [left for text, answer in pairs if (left := (await self.narrow(cursor, text, answer)).text)]


def _result(outcome: Outcome) -> TypeResult:
    return "hidden" if outcome.status == "failed" else outcome.status


def _cut_before_error(cursor: Cursor, text: str, outcome: Outcome) -> str | None:
    """Return the lines of a text before its first error, as many of them as are valid without the rest."""
    new = encode(text)
    after = cursor.document.apply_edit(Edit(cursor.offset, cursor.offset, new), cursor.document.version)
    first_error = max(cursor.offset, min(finding.start for finding in outcome.findings))
    line_start = after.line_starts[after.line_of(first_error)]
    start = new[: max(0, line_start - cursor.offset)].decode("utf-8", "surrogatepass").rstrip()
    if not start.strip():
        return None
    return find_valid_start(cursor.tree, cursor.offset, start) if cursor.tree else start
