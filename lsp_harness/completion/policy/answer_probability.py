"""How sure the model was of what is shown of its text."""

from math import exp

from lsp_harness.completion.request.answer_cache import Written
from lsp_harness.text.code_lines import to_lf


def probability(written: Written, shown: str) -> float | None:
    """The geometric mean of the probabilities of the tokens that `shown` was made of; None where they are not known.

    What the rules cut off does not count: a model that goes astray on the next line may well be right on this one.
    """
    start, end = _span(to_lf(written.text), to_lf(shown).strip())
    found: list[float] = []
    before = 0
    for at, logprob in written.steps:
        if at > start and before < end:
            found.append(logprob)
        before = at
    return exp(sum(found) / len(found)) if found else None


def _span(text: str, shown: str) -> tuple[int, int]:
    """Where a shown text is in what was written, blanks at its ends apart; its lines may have been indented anew."""
    start = text.find(shown)
    if start >= 0:
        return start, start + len(shown)
    first, *_, last = [*shown.split("\n"), shown.split("\n")[-1]]
    start = max(0, text.find(first.strip()))
    end = text.find(last.strip(), start)
    return start, end + len(last.strip()) if end >= 0 else len(text)
