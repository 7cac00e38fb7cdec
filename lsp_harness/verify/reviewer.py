"""Asks the model whether a change does what the task says. A grammar allows only YES and NO.

A small model says YES to nearly everything (`docs/review.md` has the rates), so the probability of the answer is kept
beside it, and the answer alone never lets an edit pass.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from math import exp
from typing import Any, cast

from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import find_secrets
from lsp_harness.inference.client import Engine
from lsp_harness.inference.grammar import one_of_grammar, parse_one_of
from lsp_harness.inference.prompt_ceilings import CEILINGS, count_messages
from lsp_harness.inference.request import ChatRequest, Chunk, Owner, Sampling, TokenLogprob
from lsp_harness.text.edit import diff
from lsp_harness.text.position import encode
from lsp_harness.verify.change import ChangeSet

ANSWERS = ("YES", "NO")
ANSWER_TOKENS = 4
CONTEXT_LINES = 12
"""Lines around each changed place. Most functions are shorter, so that the model sees all of it."""
LIKELIEST = 20
"""Tokens among which both answers are looked for."""
SYSTEM = "You review changes to code. Answer with YES or NO."


class ReviewSkippedError(HarnessError):
    """There is no review. The message says why."""


@dataclass(frozen=True, slots=True)
class ModelReview:
    """The answer of the model.

    Attributes:
        is_yes: Whether the model says that the change addresses the task.
        yes_probability: The probability of YES against NO, or None if the server does not tell it.
    """

    is_yes: bool
    yes_probability: float | None = None

    def __str__(self) -> str:
        if self.yes_probability is None:
            return ANSWERS[not self.is_yes]
        probability = self.yes_probability if self.is_yes else 1 - self.yes_probability
        return f"{ANSWERS[not self.is_yes]}, probability {probability:.2f}"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Reviews changes by a model.

    Attributes:
        find_engine: Returns the client of the model.
        private_reason: Returns why no model may see the document of a URI, or an empty text.
    """

    find_engine: Callable[[], Engine]
    private_reason: Callable[[str], str] = lambda uri: ""

    async def review(self, task: str, changes: ChangeSet) -> ModelReview:
        """Return what the model says about a change.

        Raises:
            ReviewSkippedError: The change is too long, or no model may see it.
            HarnessError: The engine does not answer.
        """
        for change in changes:
            if reason := self.private_reason(change.after.uri):
                raise ReviewSkippedError(f"{change.file.name} is {reason}, so it is not sent to the model")
        question = format_question(task, changes)
        if find_secrets(encode(question)):
            raise ReviewSkippedError("this code contains what looks like a secret, so it is not sent to the model")
        engine = self.find_engine()
        messages = (("system", SYSTEM), ("user", question))
        # half of a change would be another change
        if (count := await count_messages(engine, messages)) > (room := CEILINGS["review"].tokens):
            raise ReviewSkippedError(f"the change has {count} tokens, and a review has room for {room}")
        sampling = Sampling(n_predict=ANSWER_TOKENS, grammar=one_of_grammar(ANSWERS), top_logprobs=LIKELIEST)
        request = ChatRequest(messages, sampling, owner=Owner())
        text, first = "", tuple[TokenLogprob, ...]()
        async with aclosing(cast("Any", engine.stream(request))) as chunks:
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                text, first = text + chunk.text, first or chunk.logprobs[:1]
                if chunk.stop:
                    break
        answer = parse_one_of(text.strip().rstrip(".").upper(), ANSWERS)
        if answer is None:
            raise ReviewSkippedError("the model answered neither YES nor NO")
        return ModelReview(answer == "YES", _yes_probability(first))


def format_question(task: str, changes: ChangeSet) -> str:
    """Return the question about a change."""
    paths = (change.file.name for change in changes)
    diffs = "\n".join(
        diff(change.before.data, change.after.data, path, context=CONTEXT_LINES)
        for change, path in zip(changes, paths, strict=True)
    )
    return f"```diff\n{diffs}```\n\nDoes this change correctly address: {task.strip()}? YES/NO"


def _yes_probability(first: Sequence[TokenLogprob]) -> float | None:
    """Return the probability of YES against NO at the first token of an answer, or None if both are unknown."""
    if not first:
        return None
    masses = dict.fromkeys(ANSWERS, 0.0)
    for text, logprob in {first[0].text: first[0].logprob, **dict(first[0].top)}.items():
        start = text.strip().upper()
        for answer in ANSWERS:
            masses[answer] += exp(logprob) if start and answer.startswith(start) else 0.0
    total = sum(masses.values())
    return masses["YES"] / total if total else None
