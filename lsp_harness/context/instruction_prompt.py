"""The prompt for an instruction about some code.

Its sections are examples, package signatures, related code, the code, the history of the session, and the task. Each
section has a token budget. What changes from one attempt to the next comes last, so that the engine can reuse the
evaluation of everything before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.fragment import Fragment, TokenCounter, total_tokens
from lsp_harness.context.prompt_budget import PromptBudget
from lsp_harness.context.sources.package_signatures import PackageSignatures
from lsp_harness.context.sources.project_examples import find_examples
from lsp_harness.context.sources.related_code import RelatedCode
from lsp_harness.context.sources.search_context import find_search_context
from lsp_harness.errors import NoAnswer


@dataclass(frozen=True, slots=True)
class PromptSources:
    """The sources that a prompt may quote beside the code.

    Attributes:
        related: Finds related code, examples and search results in the workspace; None if there is no index.
        packages: Finds signatures of installed packages; None if they may not be read.
        search_text: The words to search the workspace for, usually the instruction. Empty for no search.
        session: Lines about earlier turns of the session.
    """

    related: RelatedCode | None = None
    packages: PackageSignatures | None = None
    search_text: str = ""
    session: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class InstructionPrompt:
    """The sections in prompt order. `language` is the name that the code blocks carry."""

    language: str
    system: Fragment
    examples: tuple[Fragment, ...]
    packages: tuple[Fragment, ...]
    related: tuple[Fragment, ...]
    code: Fragment
    session: tuple[Fragment, ...]
    task: Fragment

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """All fragments in prompt order."""
        return (self.system, *self.examples, *self.packages, *self.related, self.code, *self.session, self.task)

    @property
    def sections(self) -> dict[str, str]:
        """The text of each section that is not empty, by the name of the section."""
        fragments_by_section = {
            "system": (self.system,),
            "examples": self.examples,
            "packages": self.packages,
            "related": self.related,
            "code": (self.code,),
            "session": self.session,
            "task": (self.task,),
        }
        texts = {name: _join(fragments) for name, fragments in fragments_by_section.items()}
        return {name: text for name, text in texts.items() if text}

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The chat messages as pairs of role and text."""
        quotes = (
            ("How such code is written here, not to be changed", self.examples),
            ("What the installed packages have", self.packages),
            ("Related code, not to be changed", self.related),
        )
        blocks = [f"{title}:\n{self._block(_join(fragments))}\n\n" for title, fragments in quotes if fragments]
        context = "".join([*blocks, "The code:\n"]) if blocks else ""
        history = "".join(f"Earlier in this session:\n{fragment.text}\n" for fragment in self.session)
        user = f"{context}{self._block(self.code.text)}\n\n{history}{self.task.text}"
        return [("system", self.system.text), ("user", user)]

    def _block(self, text: str) -> str:
        return f"```{self.language}\n{text.removesuffix(chr(10))}\n```"


async def build_instruction_prompt(
    code: CodeSelection,
    sources: PromptSources,
    *,
    system: str,
    task: Fragment,
    budget: PromptBudget,
    count: TokenCounter,
) -> InstructionPrompt:
    """Build the prompt for an instruction about some code.

    The sources share the tokens that the code leaves of `code_budget`, in this order: related code, package signatures,
    examples, search results. Each source gets at most its own budget; search results get what related code leaves of
    its own. The caller checks whether the code itself fits its budget.

    Args:
        code: The code to change or explain.
        sources: What the prompt may quote.
        system: The system prompt.
        task: The task, already within its budget (see `fit_task`).
        budget: The budgets of the sections.
        count: The tokenizer of the model.

    Raises:
        NoAnswer: The system prompt exceeds its budget.
    """
    # the prompt has a line end behind the code, which often forms one token with the text before it
    text, settings = code.text.removesuffix("\n") + "\n", budget.settings
    [system_tokens, code_tokens] = await count([system, text])
    if system_tokens > settings.system_budget:
        raise NoAnswer(
            f"the system prompt has {system_tokens} tokens, and context.system_budget allows {settings.system_budget}; "
            "raise that setting"
        )
    session_tokens = budget.session_tokens(system_tokens, code_tokens, task.tokens)
    history = await _fit_history(sources.session, session_tokens, count)
    tokens_left = budget.context_tokens(system_tokens, code_tokens, task.tokens + total_tokens(history))
    related, packages, examples = (), (), ()
    if sources.related:
        related = await sources.related.find_fragments(code, min(settings.related_budget, tokens_left))
        tokens_left -= total_tokens(related)
    if sources.packages:
        packages = await sources.packages.find_fragments(code, min(settings.docs_budget, tokens_left))
        tokens_left -= total_tokens(packages)
    if sources.related:
        share = min(settings.few_shot_budget, tokens_left)
        examples = await find_examples(sources.related, code, share, settings.few_shot_examples)
        tokens_left -= total_tokens(examples)
        share = min(settings.related_budget - total_tokens(related), tokens_left)
        quoted = (*related, *examples)
        related += await find_search_context(sources.related, code, sources.search_text, share, quoted)
    return InstructionPrompt(
        code.tree.language.id if code.tree else code.document.language,
        Fragment(system, system_tokens, "", "system prompt"),
        examples,
        packages,
        related,
        Fragment(text, code_tokens, code.path, "code to change"),
        history,
        task,
    )


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
    costs = await _line_costs([*task_lines, *feedback_lines, *findings], count)
    kept_task, tokens_left = _fit_lines(task_lines, costs, budget)
    if not kept_task:
        raise NoAnswer(
            f"the task has {costs[task_lines[0]]} tokens, and context.task_budget allows {budget}; raise that setting"
        )
    kept_feedback, tokens_left = _fit_lines(feedback_lines, costs, tokens_left) if kept_task == task_lines else ([], 0)
    kept_findings, _ = _fit_lines(findings, costs, tokens_left if kept_feedback == feedback_lines else 0)
    # the title of the feedback is of no use without a line below it
    kept_lines = [*kept_task, *kept_findings, *(kept_feedback if len(kept_feedback) > 1 else [])]
    return Fragment("\n".join(kept_lines), sum(costs[line] for line in kept_lines), "", "the task")


async def _fit_history(session: Sequence[str], budget: int, count: TokenCounter) -> tuple[Fragment, ...]:
    """Return the first lines of the session that fit the budget, as one fragment, or nothing."""
    costs = await _line_costs(session, count)
    lines, _ = _fit_lines(session, costs, budget)
    if not lines:
        return ()
    text = "".join(f"{line}\n" for line in lines)
    return (Fragment(text, sum(costs[line] for line in lines), "", "history of the session"),)


async def _line_costs(lines: Sequence[str], count: TokenCounter) -> dict[str, int]:
    """Return the tokens of each line with its line end."""
    return dict(zip(lines, await count([f"{line}\n" for line in lines]), strict=True))


def _fit_lines(lines: Sequence[str], costs: Mapping[str, int], budget: int) -> tuple[list[str], int]:
    """Return the first lines that fit the budget, and the tokens left."""
    kept_lines = list[str]()
    for line in lines:
        if costs[line] > budget:
            break
        budget -= costs[line]
        kept_lines.append(line)
    return kept_lines, budget


def _join(fragments: Sequence[Fragment]) -> str:
    return "".join(fragment.text for fragment in fragments)
