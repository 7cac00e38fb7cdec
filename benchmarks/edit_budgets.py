"""Faults of the prompts of edits by instruction, counted by the model's own tokenizer: see `budgets`."""

import random
from collections.abc import Sequence
from dataclasses import replace

from lsp_harness.config.schema import Context
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs, WorkspaceScope
from lsp_harness.context.fragment import Fragment, TokenCounter, sum_tokens
from lsp_harness.context.instruction_prompt import InstructionPrompt, build_instruction_prompt, fit_task
from lsp_harness.context.prompt_budget import FRAME_TOKENS, PromptBudget
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.syntax.scope import function_text_span
from lsp_harness.syntax.tree import SyntaxTree

SHARES = {
    "code_budget": (64, 1536),
    "related_budget": (0, 768),
    "few_shot_budget": (0, 768),
    "few_shot_examples": (0, 3),
    "task_budget": (16, 512),
}
SYSTEM = "You edit code. Answer with the whole edited code in one code block and nothing else."
FEEDBACK = [f"LINT: F821 Undefined name `name_{n}`" for n in range(24)]


class EditJudge:
    """Prompts of edits at random functions with random shares."""

    def __init__(self, llama: Llama) -> None:
        self._llama = llama
        self.wrong: dict[str, int] = {"edits: sum": 0, "edits: over a share": 0, "edits: within a line": 0}
        self.prompts = 0
        self.tokens = list[int]()

    async def look(
        self, tree: SyntaxTree, offset: int, path: str, known: IndexQuery, count: TokenCounter, chance: random.Random
    ):
        """Return the edit of the function at a place, or None if the prompt has no room for it."""
        shares = replace(Context(), **{key: chance.randint(*limits) for key, limits in SHARES.items()})
        span = function_text_span(tree, offset)
        if span is None:
            return
        task = await fit_task(
            "Instruction: say what it is", FEEDBACK[: chance.randint(0, 24)], shares.task_budget, count
        )
        room = chance.choice([None, chance.randint(200, 2048)])
        code = CodeSelection(tree.document, tree, span, path)
        inputs = InstructionInputs(code, PromptBudget(shares, room), count, WorkspaceScope(known))
        instruction_prompt = await build_instruction_prompt(inputs, system=SYSTEM, task=task)
        if sum_tokens(instruction_prompt.find("code")) <= shares.code_budget:
            self._judge(instruction_prompt, shares, room)

    def _judge(self, made: InstructionPrompt, shares: Context, room: int | None) -> None:
        self.prompts += 1
        (_, system), (_, user) = made.messages
        text = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"
        sections = {name: self._count(part) for name, part in made.texts.items()}
        whole, marks = len(self._llama.vocabulary.tokenize(text, special=True)), self._marks(text, made)
        self.tokens.append(whole)
        self.wrong["edits: sum"] += whole != marks + sum(sections.values())
        around = sum(sections.get(name, 0) for name in ("examples", "related"))
        fixed = sections["system"] + sections["code"] + sections["task"]
        self.wrong["edits: over a share"] += (
            sections.get("related", 0) > shares.related_budget
            or sections.get("examples", 0) > shares.few_shot_budget
            or sections["task"] > shares.task_budget
            or around + sections["code"] > shares.code_budget
            or marks > FRAME_TOKENS
            or bool(room is not None and around and around + fixed + marks > room)
        )
        pieces: Sequence[Fragment] = (*made.find("examples"), *made.find("related"))
        self.wrong["edits: within a line"] += not all(piece.text.endswith("\n") for piece in pieces)

    def _count(self, text: str) -> int:
        return len(self._llama.vocabulary.tokenize(text))

    def _marks(self, text: str, made: InstructionPrompt) -> int:
        """Count the tokens of the marks between the sections."""
        total = 0
        for part in made.texts.values():
            before, _, text = text.partition(part)
            total += len(self._llama.vocabulary.tokenize(before, special=True))
        return total + len(self._llama.vocabulary.tokenize(text, special=True))
