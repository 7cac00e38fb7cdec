"""The effect of the type gate on a suggestion: all of it, another one, its first lines or nothing is shown."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from lsp_harness.completion.answer_cache import ModelText
from lsp_harness.completion.text_generation import find_valid_start
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.types.type_gate import NAME, TypeGate
from lsp_harness.workspace.cursor import Cursor

TypeResult = Literal["passed", "replaced", "cut", "hidden", "skipped"]
"""The result of the type gate for a suggestion. A skipped one is shown as it is."""
FindOthers = Callable[[], Awaitable[Sequence[tuple[str, ModelText]]]]
"""Returns other suggestions for the same place, each with the answer of the model that it was made from."""


async def _find_none() -> Sequence[tuple[str, ModelText]]:
    return ()


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
    """Replaces, cuts or hides suggestions that would add a type error.

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

    async def narrow(
        self,
        cursor: Cursor,
        text: str | None,
        answer: ModelText,
        rule: str = "",
        find_others: FindOthers = _find_none,
    ) -> FilteredText:
        """Return a text if it adds no type error, or else what may be shown in its place.

        That is the first other text that adds none, or else the longest start of all these texts.

        Args:
            cursor: The place of the cursor in the text.
            text: The text, or None.
            answer: The answer of the model that the text was made from. A limit may have cut it within a name.
            rule: The rule that hides the text already, or an empty text.
            find_others: Called if the text adds an error.
        """
        if not text or rule or not self._gate:
            return FilteredText(text, rule)
        first = await _check(self._gate, cursor, text, answer)
        ms = first.ms
        if first.status == "failed":
            shown_text, result, more_ms = await _replace(self._gate, cursor, (text, first), await find_others())
            ms += more_ms
        else:
            shown_text, result = text, first.status
        self._record(result)
        figures: dict[str, Any] = {NAME: result, f"{NAME}_ms": round(ms, 1)}
        if first.status != "passed":
            figures[f"{NAME}_reason"] = first.findings[0].message if first.findings else first.reason
        return FilteredText(None, NAME, figures) if result == "hidden" else FilteredText(shown_text, "", figures)

    async def narrow_all(self, cursor: Cursor, texts: Sequence[tuple[str, ModelText]]) -> Sequence[str]:
        """Return what is left of several texts, without those of which nothing is left."""
        return [left for text, answer in texts if (left := (await self.narrow(cursor, text, answer)).text)]


async def _check(gate: TypeGate, cursor: Cursor, text: str, answer: ModelText) -> Outcome:
    [outcome] = await gate.check(cursor, [text], is_cut=answer.stop in ("deadline", "limit"))
    return outcome


async def _replace(
    gate: TypeGate, cursor: Cursor, failed: tuple[str, Outcome], others: Sequence[tuple[str, ModelText]]
) -> tuple[str | None, TypeResult, float]:
    """Return what is shown in place of a text that failed, what happened, and how long the checks took."""
    failures, ms = [failed], 0.0
    for text, answer in others:
        outcome = await _check(gate, cursor, text, answer)
        ms += outcome.ms
        # another text that was not checked in time is less likely than the first, and perhaps as wrong
        if outcome.status == "passed":
            return text, "replaced", ms
        if outcome.status == "failed":
            failures.append((text, outcome))
    starts = list[str]()
    for text, outcome in failures:
        start, start_ms = await _find_start(gate, cursor, text, outcome)
        ms += start_ms
        starts += [start] if start else []
    return (max(starts, key=len), "cut", ms) if starts else (None, "hidden", ms)


async def _find_start(gate: TypeGate, cursor: Cursor, text: str, outcome: Outcome) -> tuple[str | None, float]:
    """Return the longest start of a text that passes, and how long the checks took."""
    start, ms = _cut_before_error(cursor, text, outcome), 0.0
    while start:
        [outcome] = await gate.check(cursor, [start])
        ms += outcome.ms
        if outcome.status == "passed":
            break
        # a start that was not checked in time has none of the known errors, but perhaps others
        start = _cut_before_error(cursor, start, outcome) if outcome.status == "failed" else None
    return start, ms


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
