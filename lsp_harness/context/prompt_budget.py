"""The token budgets of the sections of a prompt, and the tokens that a finished prompt uses.

Costs are counted with the model's own tokenizer. The prompt and the answer share the context of the model. If there is
too little room, context around the code is left out in whole fragments. The system prompt, the code and the task are
never cut: if one of them exceeds its budget, that is an error.
"""

from dataclasses import asdict, dataclass

from lsp_harness.config.schema import Context

TOTAL = "total"
"""The name of the budget that all sources of a prompt share."""
FRAME_TOKENS = 96
"""An upper limit for the titles, the code fences and the markers of the chat template."""


@dataclass(frozen=True, slots=True)
class PromptBudget:
    """The numbers of tokens that the sections of one prompt may use.

    Attributes:
        settings: The budget of each section.
        room_tokens: The context of the model without the answer, or None if the size of the context is unknown.
    """

    settings: Context
    room_tokens: int | None = None

    def remaining(self, system: int, code: int, task: int) -> dict[str, int]:
        """Return the tokens that the sources of context may use, by the names of the budgets.

        The sources share what the code leaves of `code_budget`, and what the task leaves of `task_budget`.

        Args:
            system: The tokens of the system prompt.
            code: The tokens of the code.
            task: The tokens of the task.
        """
        budgets = {key: tokens for key, tokens in asdict(self.settings).items() if key.endswith("_budget")}
        budgets["code_budget"] -= code
        budgets["task_budget"] -= task
        if self.room_tokens is not None:
            budgets[TOTAL] = self.room_tokens - FRAME_TOKENS - system - code - task
        return budgets


@dataclass(frozen=True, slots=True)
class Allocation:
    """The tokens that a finished prompt uses.

    Attributes:
        sections: The tokens of each section, by its name.
        prompt: The tokens of the whole prompt, with the markers between the sections.
        answer: The tokens reserved for the answer.
        context: The size of the model's context, or 0 if it is unknown.
    """

    sections: dict[str, int]
    prompt: int
    answer: int
    context: int

    @property
    def excess_tokens(self) -> int:
        """The tokens by which the prompt and the answer exceed the context."""
        return max(0, self.prompt + self.answer - self.context) if self.context else 0

    @property
    def excess_message(self) -> str:
        """The message for the user if there are excess tokens."""
        return (
            f"the prompt has {self.prompt} tokens and {self.answer} are reserved for the answer, but the model's "
            f"context has only {self.context}; select less, or raise model.context_length"
        )
