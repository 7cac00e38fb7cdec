"""What the sections of a prompt may cost, and what they do cost: tokens by the model's own tokenizer, in a context that the answer
shares with them.

What is around the code gives way, whole pieces at a time; what the model is told it is, the code and the task do not: where one of
these is more than its share, that is an error.
"""

from dataclasses import dataclass

from lsp_harness.config.schema import Context

FRAME_TOKENS = 96
"""Tokens at most of what marks the sections: titles, code fences, and the chat template's own."""


@dataclass(frozen=True, slots=True)
class PromptBudget:
    """The shares of the `settings`, and the `room` that a model's context has beside the answer, where that is known."""

    settings: Context
    room: int | None = None

    def around(self, system: int, code: int, task: int) -> int:
        """What these leave for what is around the code: of the code's own share, and of the context."""
        return self._within(self.settings.code_budget - code, system + code + task)

    def session(self, system: int, code: int, task: int) -> int:
        """What these leave for what was before: of the task's own share, and of the context."""
        return self._within(min(self.settings.session_budget, self.settings.task_budget - task), system + code + task)

    def _within(self, left: int, taken: int) -> int:
        return max(0, left if self.room is None else min(left, self.room - FRAME_TOKENS - taken))


@dataclass(frozen=True, slots=True)
class Allocation:
    """The tokens of each of the `sections` of a prompt, of all of the `prompt` with what marks them, what is kept for the
    `answer`, and what the `context` has; 0 where that is not known."""

    sections: dict[str, int]
    prompt: int
    answer: int
    context: int

    @property
    def over(self) -> int:
        """Tokens that the context has too few."""
        return max(0, self.prompt + self.answer - self.context) if self.context else 0

    @property
    def why(self) -> str:
        """What is wrong where there are too few."""
        return (
            f"the prompt has {self.prompt} tokens and {self.answer} are reserved for the answer, but the model's context has "
            f"only {self.context}; select less, or raise model.context_length"
        )
