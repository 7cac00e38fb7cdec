"""The conversation that asks a model for one of a few words: examples, and last the question."""

from collections.abc import Callable, Sequence

from lsp_harness.inference.client import Engine
from lsp_harness.inference.prompt_ceilings import CEILINGS, PromptName, PromptTooLongError, count_messages

MIN_PART_CHARS = 80
"""The parts of a question are not cut to fewer characters as long as examples can be left out instead."""

Messages = list[tuple[str, str]]


async def fit_question(
    engine: Engine,
    name: PromptName,
    system: str,
    examples: Sequence[tuple[str, str]],
    parts: Sequence[str],
    write: Callable[..., str],
) -> Messages:
    """Return the messages of a question, which have no more tokens than the ceiling of their prompt.

    The end of the longest part is cut until the question fits. If all parts are short, the first examples are left out:
    another model may need several times the tokens for the same text.

    Args:
        engine: The client of the model.
        name: The prompt.
        system: The system prompt.
        examples: Pairs of a question and its answer.
        parts: The texts of the question.
        write: Returns the question with these parts.

    Raises:
        PromptTooLongError: The model needs too many tokens even for a short question without examples.
    """
    kept, shown = list(parts), list(examples)
    limit = CEILINGS[name].tokens
    while True:
        messages = [("system", system)]
        for question, answer in shown:
            messages += [("user", question), ("assistant", answer)]
        messages.append(("user", write(*kept)))
        tokens = await count_messages(engine, messages)
        if tokens <= limit:
            return messages
        longest = max(range(len(kept)), key=lambda index: len(kept[index]))
        if len(kept[longest]) > MIN_PART_CHARS:
            kept[longest] = kept[longest][: len(kept[longest]) // 2]
        elif shown:
            # several at once, because each try is a request to the tokenizer
            del shown[: 1 + len(shown) // 8]
        else:
            raise PromptTooLongError(f"this model needs {tokens} tokens for a question that may have {limit}")
