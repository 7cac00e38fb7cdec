"""The answers of programs about texts before proposals. All candidates for a text are compared with one answer."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

AnswerT = TypeVar("AnswerT")
MAX_BASELINES = 32


class Baselines(Generic[AnswerT]):
    """The answers about the last unchanged texts, until a file on disk changes."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, AnswerT] = OrderedDict()

    async def find(self, key: Hashable, ask: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        """Return the answer that is kept, or a new one.

        Args:
            key: Everything that the answer depends on, without the other files on disk.
            ask: Runs the program for the missing result.
        """
        # a file that changes during the run gets another dictionary
        answers = self._answers
        if key not in answers:
            answers[key] = await ask()
            while len(answers) > MAX_BASELINES:
                answers.popitem(last=False)
        answers.move_to_end(key)
        return answers[key]

    def clear(self) -> None:
        """Forget all answers, also those that are on their way."""
        self._answers = OrderedDict()
