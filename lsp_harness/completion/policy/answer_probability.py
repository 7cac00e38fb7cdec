"""The probability that a model gave to the part of its answer that is shown."""

from math import exp

from lsp_harness.completion.request.answer_cache import ModelText
from lsp_harness.text.code_lines import to_lf


def shown_probability(answer: ModelText, shown_text: str) -> float | None:
    """Return the geometric mean of the probabilities of the tokens that `shown` consists of.

    Tokens that the rules cut off do not count: a model that is wrong on the next line may well be right on this one.

    Returns:
        None if the probabilities are not known.
    """
    start, end = _find_span(to_lf(answer.text), to_lf(shown_text).strip())
    logprobs: list[float] = []
    token_start = 0
    for token_end, logprob in answer.steps:
        if token_end > start and token_start < end:
            logprobs.append(logprob)
        token_start = token_end
    return exp(sum(logprobs) / len(logprobs)) if logprobs else None


def _find_span(text: str, shown_text: str) -> tuple[int, int]:
    """Return where `shown` stands in `text`, apart from blanks at its ends. Its lines may have another indentation."""
    start = text.find(shown_text)
    if start >= 0:
        return start, start + len(shown_text)
    first_line, *_, last_line = [*shown_text.split("\n"), shown_text.split("\n")[-1]]
    start = max(0, text.find(first_line.strip()))
    end = text.find(last_line.strip(), start)
    return start, end + len(last_line.strip()) if end >= 0 else len(text)
