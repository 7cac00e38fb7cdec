"""The prompt for an instruction about some code.

Its sections are the code, the task, and the context that the sources of `source_registry` find. Each section has
a token budget. What changes from one attempt to the next comes last, so that the engine can reuse the evaluation of
everything before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from lsp_harness.context import source_registry
from lsp_harness.context.context_inputs import InstructionInputs
from lsp_harness.context.context_source import InstructionSource, SectionTitle, share_tokens
from lsp_harness.context.fragment import Fragment, TokenCounter, count_lines, fit_lines
from lsp_harness.errors import NoAnswer

CODE_ORDER = 50
"""Sources with a lower order stand before the code, the others between the code and the task."""
CODE_TITLE = "The code"
"""The title of the code if other sections stand before it."""


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A titled part of an instruction prompt, which consists of fragments.

    Attributes:
        name: The name of the section in events.
        fragments: The content of the section.
        title: The line above it, or an empty text for none.
        is_code: Whether the content is a code block.
    """

    name: str
    fragments: tuple[Fragment, ...]
    title: str = ""
    is_code: bool = False

    @property
    def text(self) -> str:
        """The content as one text."""
        return "".join(fragment.text for fragment in self.fragments)

    def render(self, language: str) -> str:
        """Return the section as it stands in the prompt. `language` is the name that a code block carries."""
        if not (self.title or self.is_code):
            return self.text
        text = self.text.removesuffix("\n")
        block = f"```{language}\n{text}\n```" if self.is_code else text
        return f"{self.title}:\n{block}" if self.title else block


@dataclass(frozen=True, slots=True)
class InstructionPrompt:
    """The prompt for an instruction: a system prompt and sections of code and text.

    Attributes:
        language: The name that the code blocks carry.
        sections: The sections in prompt order. The first one is the system prompt.
    """

    language: str
    sections: tuple[PromptSection, ...]

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """All fragments in prompt order."""
        return tuple(fragment for section in self.sections for fragment in section.fragments)

    @property
    def texts(self) -> dict[str, str]:
        """The text of each section that is not empty, by the name of the section."""
        return {section.name: section.text for section in self.sections if section.text}

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The chat messages as pairs of role and text."""
        system, *user_sections = self.sections
        user_text = "\n\n".join(section.render(self.language) for section in user_sections)
        return [("system", system.text), ("user", user_text)]

    def find(self, name: str) -> tuple[Fragment, ...]:
        """Return the fragments of the section with this name; empty if there is none."""
        return next((section.fragments for section in self.sections if section.name == name), ())


async def build_instruction_prompt(inputs: InstructionInputs, *, system: str, task: Fragment) -> InstructionPrompt:
    """Build the prompt for an instruction about some code.

    The sources of context share the tokens that the code, the system prompt and the task leave (see `share_tokens`).
    The caller checks whether the code itself fits its budget.

    Args:
        inputs: The code, the budgets, and all that the sources may read.
        system: The system prompt.
        task: The task, already within its budget (see `fit_task`).

    Raises:
        NoAnswer: The system prompt exceeds its budget.
    """
    code, settings = inputs.code, inputs.budget.settings
    # the prompt has a line end behind the code, which often forms one token with the text before it
    text = code.text.removesuffix("\n") + "\n"
    [system_tokens, code_tokens] = await inputs.count([system, text])
    if system_tokens > settings.system_budget:
        raise NoAnswer(
            f"the system prompt has {system_tokens} tokens, and context.system_budget allows {settings.system_budget}; "
            "raise that setting"
        )
    sources = [create(inputs) for create in source_registry.INSTRUCTION_SOURCES]
    shared = await share_tokens(sources, inputs.budget.remaining(system_tokens, code_tokens, task.tokens))
    before = _to_sections([(source, fragments) for source, fragments in shared if source.order < CODE_ORDER])
    after = _to_sections([(source, fragments) for source, fragments in shared if source.order >= CODE_ORDER])
    code_fragment = Fragment(text, code_tokens, code.path, "code to change")
    sections = (
        PromptSection("system", (Fragment(system, system_tokens, "", "system prompt"),)),
        *before,
        PromptSection("code", (code_fragment,), CODE_TITLE if before else "", is_code=True),
        *after,
        PromptSection("task", (task,)),
    )
    return InstructionPrompt(code.tree.language.id if code.tree else code.document.language, sections)


def _to_sections(shared: Sequence[tuple[InstructionSource, tuple[Fragment, ...]]]) -> list[PromptSection]:
    """Return the sections of the prompt for the fragments of each source, in the same order and without empty ones."""

    def section_of(item: tuple[InstructionSource, tuple[Fragment, ...]]) -> SectionTitle:
        return item[0].section

    sections = list[PromptSection]()
    for section, items in groupby(shared, section_of):
        fragments = tuple(fragment for _, part in items for fragment in part)
        if fragments:
            sections.append(PromptSection(section.name, fragments, section.title, section.is_code))
    return sections


async def fit_task(
    task: str, feedback: Sequence[str], budget: int, count: TokenCounter, findings: Sequence[str] = ()
) -> Fragment:
    """Return the task, the findings and the feedback, as many lines as fit the budget.

    Args:
        task: What the model must do. Its lines come first.
        feedback: What was wrong with earlier attempts. It is left out first, the last line before the others.
        budget: The most tokens of the result.
        count: The tokenizer of the model.
        findings: Existing findings in the code. They are left out after the feedback.

    Raises:
        NoAnswer: The first line of the task exceeds the budget.
    """
    task_lines, feedback_lines = task.split("\n"), ["Earlier attempts failed:", *feedback] if feedback else []
    costs = await count_lines([*task_lines, *feedback_lines, *findings], count)
    kept_task, tokens_left = fit_lines(task_lines, costs, budget)
    if not kept_task:
        raise NoAnswer(
            f"the task has {costs[task_lines[0]]} tokens, and context.task_budget allows {budget}; raise that setting"
        )
    kept_feedback, tokens_left = fit_lines(feedback_lines, costs, tokens_left) if kept_task == task_lines else ([], 0)
    kept_findings, _ = fit_lines(findings, costs, tokens_left if kept_feedback == feedback_lines else 0)
    # the title of the feedback is of no use without a line below it
    kept_lines = [*kept_task, *kept_findings, *(kept_feedback if len(kept_feedback) > 1 else [])]
    return Fragment("\n".join(kept_lines), sum(costs[line] for line in kept_lines), "", "the task")
