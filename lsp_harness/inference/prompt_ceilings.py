"""The ceilings of the prompts of the driver `code`: one row for each prompt, with the most tokens that it may have.

A ceiling counts all that the model reads, with the marks of the chat template or of the hole. Whoever builds a prompt
cuts it to its ceiling, or does not send it. A new prompt needs a row here, or a test fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, get_args

from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.client import Engine

PromptName = Literal[
    "understand",
    "locate",
    "plan",
    "edit",
    "new code",
    "new member",
    "new test",
    "new file",
    "fix",
    "fill",
    "ladder fill",
    "docstring",
    "tests",
    "repair choice",
    "review",
    "explain",
]
PROMPT_NAMES: tuple[PromptName, ...] = get_args(PromptName)
FRAME_TOKENS = 192
"""Tokens for the titles of sections, the fences of code, and the marks of the chat template."""
HOLE_FRAME_TOKENS = 256
"""Tokens for the names of the files that stand before a hole, and the marks of the hole."""
MESSAGE_MARK_TOKENS = 4
"""An upper limit for the marks around the role and the text of one message."""
SECTIONS = ("context.system_budget", "context.code_budget", "context.task_budget")
WINDOW = tuple(f"completion.{part}_tokens" for part in ("prefix", "suffix", "outline", "repository"))


@dataclass(frozen=True, slots=True)
class PromptCeiling:
    """The row of one prompt.

    Attributes:
        state: The state of a turn that sends the prompt.
        module: The module that writes its texts.
        version: The version of these texts. The log has it beside each prompt, so that figures can be compared.
        tokens: Tokens of the ceiling that no setting changes.
        budgets: Settings that are added, as `table.key`.
    """

    state: str
    module: str
    version: int
    tokens: int
    budgets: tuple[str, ...] = ()

    def count_tokens(self, config: Config) -> int:
        """Return the most tokens of the prompt."""
        return self.tokens + sum(max(0, attrgetter(budget)(config)) for budget in self.budgets)


CEILINGS: dict[PromptName, PromptCeiling] = {
    "understand": PromptCeiling("UNDERSTAND", "coding/plan/understanding.py", 1, 1024),
    "locate": PromptCeiling("LOCATE", "coding/location/task_location.py", 1, FRAME_TOKENS, ("context.task_budget",)),
    "plan": PromptCeiling("PLAN", "coding/plan/plan_choice.py", 2, 768),
    "edit": PromptCeiling("GENERATE", "coding/instruct.py", 1, FRAME_TOKENS, SECTIONS),
    "new code": PromptCeiling("GENERATE", "coding/write_code.py", 1, FRAME_TOKENS, SECTIONS),
    "new member": PromptCeiling("GENERATE", "coding/write_code.py", 1, FRAME_TOKENS, SECTIONS),
    "new test": PromptCeiling("GENERATE", "coding/write_code.py", 1, FRAME_TOKENS, SECTIONS),
    "new file": PromptCeiling("GENERATE", "coding/new_file.py", 1, FRAME_TOKENS, SECTIONS),
    "fix": PromptCeiling("GENERATE", "coding/candidates/candidate_generator.py", 2, FRAME_TOKENS, SECTIONS),
    "fill": PromptCeiling("GENERATE", "coding/candidates/candidate_generator.py", 1, HOLE_FRAME_TOKENS, WINDOW),
    "ladder fill": PromptCeiling("GENERATE", "coding/ladder/ladder.py", 1, HOLE_FRAME_TOKENS, WINDOW),
    "docstring": PromptCeiling("GENERATE", "coding/docstring.py", 1, HOLE_FRAME_TOKENS, WINDOW),
    "tests": PromptCeiling(
        "GENERATE", "coding/write_tests.py", 1, HOLE_FRAME_TOKENS, ("completion.prefix_tokens", "context.code_budget")
    ),
    "repair choice": PromptCeiling("VERIFY", "coding/fix.py", 1, HOLE_FRAME_TOKENS, WINDOW),
    "review": PromptCeiling("VERIFY", "verify/reviewer.py", 1, 1024),
    "explain": PromptCeiling("ANSWER", "coding/explain.py", 1, FRAME_TOKENS, SECTIONS),
}


class PromptTooLongError(NoAnswer):
    """A prompt is above its ceiling."""


@dataclass(frozen=True, slots=True)
class PromptLimit:
    """The ceiling of one prompt, with the present settings.

    Attributes:
        name: The name of the prompt.
        tokens: The most tokens that it may have.
    """

    name: PromptName
    tokens: int

    @classmethod
    def of(cls, name: PromptName, config: Config) -> "PromptLimit":
        """Return the ceiling of a prompt."""
        return cls(name, CEILINGS[name].count_tokens(config))

    @property
    def template(self) -> str:
        """The prompt and the version of its texts, for the log."""
        return f"{self.name} {CEILINGS[self.name].version}"

    def require(self, tokens: int) -> None:
        """Raise PromptTooLongError if the prompt has more tokens than its ceiling allows."""
        if tokens > self.tokens:
            raise PromptTooLongError(
                f"the prompt has {tokens} tokens, and at most {self.tokens} are sent for this; "
                "select less, or shorten the request"
            )


async def count_messages(engine: Engine, messages: Sequence[tuple[str, str]]) -> int:
    """Return the most tokens that a conversation may have, with the marks of the chat template.

    Servers count the text of a mark as several tokens, although the model reads it as one. So marks are estimated.
    """
    turns = [*messages, ("assistant", "")]
    return sum(await engine.count([f"{role}\n{text}" for role, text in turns])) + MESSAGE_MARK_TOKENS * len(turns)
