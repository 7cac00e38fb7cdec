"""A prompt by instruction: an example of such code, what packages have and what is related, the code, what the session has come to,
and what to do, each within its share.

What changes from one attempt to the next comes last, so that the rest stays evaluated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.prompt_budget import PromptBudget
from lsp_harness.context.sources.package_signatures import PackageSignatures
from lsp_harness.context.sources.project_examples import find_examples
from lsp_harness.context.sources.related_code import RelatedCode
from lsp_harness.context.sources.search_context import find_search_context
from lsp_harness.errors import NoAnswer
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode


@dataclass(frozen=True, slots=True)
class InstructionPrompt:
    """The parts in prompt order; `language` names their code blocks."""

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
        return (self.system, *self.examples, *self.packages, *self.related, self.code, *self.session, self.task)

    @property
    def sections(self) -> dict[str, str]:
        """The text of each that has one, by the name of its share."""
        parts = {
            "system": (self.system,),
            "examples": self.examples,
            "packages": self.packages,
            "related": self.related,
            "code": (self.code,),
            "session": self.session,
            "task": (self.task,),
        }
        texts = {name: "".join(fragment.text for fragment in fragments) for name, fragments in parts.items()}
        return {name: text for name, text in texts.items() if text}

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each, as chat templates have them."""
        parts = (
            ("How such code is written here, not to be changed", self.examples),
            ("What the installed packages have", self.packages),
            ("Related code, not to be changed", self.related),
        )
        shown = [
            f"{title}:\n{self._block(''.join(fragment.text for fragment in fragments))}\n\n"
            for title, fragments in parts
            if fragments
        ]
        before = "".join([*shown, "The code:\n"]) if shown else ""
        earlier = "".join(f"Earlier in this session:\n{one.text}\n" for one in self.session)
        user = f"{before}{self._block(self.code.text)}\n\n{earlier}{self.task.text}"
        return [("system", self.system.text), ("user", user)]

    def _block(self, text: str) -> str:
        return f"```{self.language}\n{text.removesuffix(chr(10))}\n```"


async def build_instruction_prompt(
    tree: SyntaxTree | None,
    document: Document,
    span: Span,
    path: str,
    *,
    system: str,
    task: Fragment,
    related: RelatedCode | None,
    packages: PackageSignatures | None = None,
    budget: PromptBudget,
    count: TokenCounter,
    about: str = "",
    session: Sequence[str] = (),
) -> InstructionPrompt:
    """The prompt for the code in `span`. What is related to it gets what that leaves of `code_budget`, and no more than its own
    share, the packages it uses and then examples get what is left, and no more than theirs; what else has to do with the words
    `about` it gets what is left of both; of the lines of the `session` the first that fit. Whether the code itself is within its budget is for the caller to ask. Raises NoAnswer where
    what the model is told it is is more than its share."""
    # as it stands in its block: a line's end is often one token with what is before it
    code, shares = decode(document.data[slice(*span)]).removesuffix("\n") + "\n", budget.settings
    [fixed, size] = await count([system, code])
    if fixed > shares.system_budget:
        raise NoAnswer(
            f"the system prompt has {fixed} tokens, and context.system_budget allows {shares.system_budget}; raise that setting"
        )
    costs = dict(zip(session, await count([f"{line}\n" for line in session]), strict=True))
    earlier, _ = _fitting(session, costs, budget.session(fixed, size, task.tokens))
    before = Fragment(
        "".join(f"{line}\n" for line in earlier), sum(costs[line] for line in earlier), "", "history of the session"
    )
    left = budget.around(fixed, size, task.tokens + before.tokens)
    around, has, like = (), (), ()
    if related and tree:
        around = await related.of(document, tree, span, path, min(shares.related_budget, left))
        left -= sum(fragment.tokens for fragment in around)
    if packages:
        comment = (tree.language.comment if tree else "") or "#"
        has = await packages.of(document, span, min(shares.docs_budget, left), comment)
        left -= sum(fragment.tokens for fragment in has)
    if related and tree:
        share = min(shares.few_shot_budget, left)
        like = await find_examples(related, document, tree, span, path, share, shares.few_shot_examples)
        left -= sum(fragment.tokens for fragment in like)
        rest = min(shares.related_budget - sum(fragment.tokens for fragment in around), left)
        around += await find_search_context(related, document, tree, span, path, about, rest, (*around, *like))
    return InstructionPrompt(
        tree.language.id if tree else document.language,
        Fragment(system, fixed, "", "system prompt"),
        like,
        has,
        around,
        Fragment(code, size, path, "code to change"),
        (before,) if earlier else (),
        task,
    )


async def fit_task(
    task: str, feedback: Sequence[str], budget: int, count: TokenCounter, beside: Sequence[str] = ()
) -> Fragment:
    """The task, what is to be said `beside` it, and feedback on earlier attempts, as many lines as its share has room for: of
    what is beside it the last are left out first, then of the feedback. Raises NoAnswer where there is no room for the first line of
    the task itself."""
    head, tail = task.split("\n"), ["Earlier attempts failed:", *feedback] if feedback else []
    costs = dict(zip(lines := [*head, *tail, *beside], await count([f"{line}\n" for line in lines]), strict=True))
    first, left = _fitting(head, costs, budget)
    if not first:
        raise NoAnswer(
            f"the task has {costs[head[0]]} tokens, and context.task_budget allows {budget}; raise that setting"
        )
    last, left = _fitting(tail, costs, left) if first == head else ([], 0)
    between, left = _fitting(beside, costs, left if last == tail else 0)
    # the headline without a line below it says nothing
    kept = [*first, *between, *(last if len(last) > 1 else [])]
    return Fragment("\n".join(kept), sum(costs[line] for line in kept), "", "the task")


def _fitting(lines: Sequence[str], costs: Mapping[str, int], budget: int) -> tuple[list[str], int]:
    """The first lines that fit, and what is left."""
    kept = list[str]()
    for line in lines:
        if costs[line] > budget:
            break
        budget -= costs[line]
        kept.append(line)
    return kept, budget
