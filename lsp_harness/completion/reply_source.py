"""The reply of the model to one request: from the cache, the answer in flight, or the engine; and its probability.

A small model sees the code below, but it often writes another statement first. If the code below uses `total` and
nothing binds it, the next statement probably does. Then the model continues a start that binds the name.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, log
from time import perf_counter
from typing import Any

from lsp_harness.completion.answer_cache import AnswerCache, ModelText
from lsp_harness.completion.completion_request import CompletionRequest, Effort
from lsp_harness.completion.inflight import Answer, InflightSlot
from lsp_harness.completion.rules.shaping import RULES, shape_ghost
from lsp_harness.completion.text_generation import generate, make_presentable_texts
from lsp_harness.completion.trigger_policy import TriggerPolicy
from lsp_harness.config.schema import Completion
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Usage
from lsp_harness.languages.traits import NameTraits
from lsp_harness.syntax.names.unbound_names import MissingNames, find_missing_names
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.edit_history import EditHistory


def compute_shown_probability(answer: ModelText, shown_text: str) -> float | None:
    """Return the geometric mean of the probabilities of the tokens that `shown` consists of.

    Tokens that the rules cut off do not count: a model that is wrong on the next line may well be right on this one.

    Returns:
        None if the probabilities are not known.
    """
    start, end = _find_span(to_lf(answer.text), to_lf(shown_text).strip())
    logprobs: list[float] = []
    token_start = 0
    for token_end, logprob in answer.steps:
        if token_end > start and token_start < end:
            logprobs.append(logprob)
        token_start = token_end
    return exp(sum(logprobs) / len(logprobs)) if logprobs else None


def _find_span(text: str, shown_text: str) -> tuple[int, int]:
    """Return where `shown` stands in `text`, apart from blanks at its ends. Its lines may have another indentation."""
    start = text.find(shown_text)
    if start >= 0:
        return start, start + len(shown_text)
    first_line, *_, last_line = [*shown_text.split("\n"), shown_text.split("\n")[-1]]
    start = max(0, text.find(first_line.strip()))
    end = text.find(last_line.strip(), start)
    return start, end + len(last_line.strip()) if end >= 0 else len(text)


USUAL_LINE_TOKENS = 12
"""Number of tokens of a usual line of code."""
MAX_QUOTED = 60
"""Most characters of an answer that a message repeats."""
BLANK_RULES = frozenset({"leading-blanks", "blank-tail", "nothing-left"})
"""Rules about blanks. They also change what is left of a text after another rule took the rest away."""


@dataclass(frozen=True, slots=True)
class CompletionReply:
    """A reply of the model.

    Attributes:
        model_text: The answer of the model.
        text: The part that may be shown, or None.
        probability: The mean probability of its tokens, or None if it is not known.
        usage: What the engine reported.
        figures: The figures for the status.
    """

    model_text: ModelText
    text: str | None
    probability: float | None
    usage: Usage
    figures: dict[str, Any]

    def is_good_enough(self, settings: Completion) -> bool:
        """Return whether nobody waits for a longer prompt: this one was the full one, or the text is likely right."""
        if not (self.usage.rung and settings.patience_ms):
            return True
        return bool(self.text) and self.probability is not None and self.probability >= settings.min_short_probability


class ReplySource:
    """Finds the reply to a request.

    If the editor asks by itself, a short prompt is tried first. If its answer is not likely to be right, the user waits
    for a longer one. A user who asks gets the answer to the full prompt.

    Args:
        engine: The engine.
        answers: The cache of earlier answers.
        policy: Decides how long to wait for the next key.
    """

    def __init__(self, engine: Engine, answers: AnswerCache, policy: TriggerPolicy) -> None:
        self._engine = engine
        self._answers = answers
        self._policy = policy

    async def find(
        self, request: CompletionRequest, inflight: InflightSlot, history: EditHistory, *, automatic: bool
    ) -> CompletionReply | None:
        """Return the reply, or None if the text changed meanwhile.

        Args:
            request: The request.
            inflight: The answer in flight for the document.
            history: The history of the document.
            automatic: Whether the editor asks without a command of the user.
        """
        if cached_text := self._answers.find(*request.cache_key):
            return await _shape_answer(request, (cached_text, Usage()), {"cached": True})
        efforts: tuple[Effort, ...] = ("quick", "patient") if automatic else ("complete",)
        reply = None
        for effort in efforts:
            answer, figures = await self._ask(request, inflight, history, effort)
            if answer is None:
                return None
            reply = await _shape_answer(request, answer, figures)
            if reply.is_good_enough(request.settings):
                break
        return reply

    async def _ask(
        self, request: CompletionRequest, inflight: InflightSlot, history: EditHistory, effort: Effort
    ) -> tuple[Answer | None, dict[str, Any]]:
        """Return the rest of the answer in flight, else a new answer, and the figures. None if the text changed."""
        start_s = perf_counter()
        answer = await inflight.wait_for_rest(request.cursor)
        # a user who asks gets no answer to a short prompt
        if answer and not (effort == "complete" and answer[1].rung):
            return answer, {"in_flight": True, "engine_ms": _elapsed_ms(start_s)} | _describe_rung(answer)
        if effort == "quick":
            has_missed = inflight.has_missed
            if not await self._policy.wait(request.cursor, history, request.settings, has_missed=has_missed):
                return None, {}
        request_s = perf_counter()
        answer = await inflight.start(request.cursor, partial(self._generate, request, effort))
        figures = {"waited_ms": round((request_s - start_s) * 1000, 1), "engine_ms": _elapsed_ms(request_s)}
        return answer, figures | (_describe_rung(answer) if answer else {})

    async def _generate(
        self, request: CompletionRequest, effort: Effort, should_continue: Callable[[str], bool]
    ) -> Answer:
        is_hopeless = partial(_is_hopeless, request.settings) if effort == "quick" else None
        answer = await generate(
            self._engine,
            request.urgent_infill(effort),
            request.ghost,
            request.settings.max_lines,
            should_continue,
            is_hopeless=is_hopeless,
            timeout_s=request.timeout_s(effort),
        )
        model_text, usage = answer
        if model_text.stop != "cancelled" and not (effort == "quick" and usage.rung):
            answer = await self._bind_missing_name(request, effort, answer, should_continue)
        self._answers.add(*request.cache_key, *answer)
        return answer

    async def _bind_missing_name(
        self, request: CompletionRequest, effort: Effort, answer: Answer, should_continue: Callable[[str], bool]
    ) -> Answer:
        """Return an answer that binds a name which the code below needs, or the answer as it is."""
        if not request.missing_names.names:
            return answer
        reply = await _shape_answer(request, answer, {})
        start = find_binding_start(request.cursor, request.missing_names, reply.text, answer[0].text)
        if not start:
            return answer
        better_answer = await generate(
            self._engine,
            request.infill_after(start, effort),
            request.ghost.with_text(start),
            request.settings.max_lines,
            should_continue,
            timeout_s=request.timeout_s(effort),
        )
        return better_answer if (await _shape_answer(request, better_answer, {})).text else answer


def describe_missing(request: CompletionRequest, reply: CompletionReply, rule: str, figures: Mapping[str, Any]) -> str:
    """Return why nothing of a reply is shown, in words.

    Args:
        request: The request.
        reply: The reply without a suggestion.
        rule: The rule that hides the text that would be shown, or an empty text.
        figures: What the type checker said, by `types_reason`.
    """
    written = " ".join(reply.model_text.text.split())
    if not written:
        ends = {"deadline": "the model had written nothing when the time was over"}
        return ends.get(reply.model_text.stop or "", "the model has nothing to add here")
    quoted = f"the model wrote “{written if len(written) <= MAX_QUOTED else written[: MAX_QUOTED - 1] + '…'}”"
    if reason := figures.get("types_reason"):
        return f"{quoted}, and the type checker says: {reason}"
    if rule:
        return f"{quoted}, and the rule {rule} hides it"
    shaped = shape_ghost(request.ghost.with_text(reply.model_text.text))
    if shaped.text is None and shaped.applied:
        reasons = {one.name: one.reason for one in RULES}
        # what emptied the text says more than that blanks are left of it
        name = next((one for one in reversed(shaped.applied) if one not in BLANK_RULES), shaped.applied[-1])
        return f"{quoted}, and nothing of it is shown: {name}. {reasons.get(name, '')}".rstrip()
    return f"{quoted}, which does not fit into the code here"


async def _shape_answer(request: CompletionRequest, answer: Answer, figures: dict[str, Any]) -> CompletionReply:
    """Return an answer with the part of it that may be shown."""
    model_text, usage = answer
    [text] = await make_presentable_texts(request.cursor, request.ghost, [model_text], request.settings)
    return CompletionReply(
        model_text, text, compute_shown_probability(model_text, text) if text else None, usage, figures
    )


def _is_hopeless(settings: Completion, usage: Usage, steps: Sequence[tuple[int, float]]) -> bool:
    """Return whether the answer to a short prompt will not be shown, even if the rest of its line were certain."""
    if not (usage.rung and settings.patience_ms and settings.min_short_probability):
        return False
    min_sum = USUAL_LINE_TOKENS * log(settings.min_short_probability)
    return len(steps) <= USUAL_LINE_TOKENS and sum(logprob for _, logprob in steps) < min_sum


def _describe_rung(answer: Answer) -> dict[str, Any]:
    rung = answer[1].rung
    return {"rung": rung} if rung else {}


def _elapsed_ms(start_s: float) -> float:
    return round((perf_counter() - start_s) * 1000, 1)


DOCSTRING = re.compile(r"\s*[rRuU]?(?:\"\"\"|''')")
"""The code below the head of a function that is missing."""
MAX_BYTES_BELOW = 3_000
"""How much of the code below is searched for a call of the name."""
ANNOTATED_PARAMETER = re.compile(r"\s*\**\w+\??\s*:")


def find_binding_start(cursor: Cursor, missing: MissingNames, text: str | None, model_text: str) -> str:
    """Return the start of a text that binds a missing name, if a suggestion binds none of them.

    Args:
        cursor: The place of the cursor in the text.
        missing: The names that are missing there.
        text: The suggestion, or None if there is nothing to show.
        model_text: What the model wrote.

    Returns:
        The indentation and a text such as `total =`, `const total =` or `for item in`. It is empty if the suggestion
        binds a missing name, or if it does not begin a line.
    """
    if not (missing.names and cursor.tree):
        return ""
    shown_text = text or model_text
    indentation = shown_text[: len(shown_text) - len(shown_text.lstrip())]
    line_start = cursor.document.data.rfind(b"\n", 0, cursor.offset) + 1
    if cursor.document.data[line_start : cursor.offset].strip() and "\n" not in indentation:
        return ""
    if text and not _leaves_all_unbound(cursor.tree, cursor.offset, missing, text):
        return ""
    start = _choose_start(cursor, cursor.tree.language.names, missing)
    return f"{indentation}{start}" if start else ""


def _leaves_all_unbound(tree: SyntaxTree, offset: int, missing: MissingNames, text: str) -> bool:
    new = encode(text.rstrip())
    try:
        tree_after = tree.apply_edit(Edit(offset, offset, new), Allowance(BUDGET.gate_s))
    except ParseBudgetExceeded:
        return False
    return tree_after is not None and {*missing.names} <= {*find_missing_names(tree_after, offset + len(new)).names}


def _choose_start(cursor: Cursor, traits: NameTraits, missing: MissingNames) -> str:
    """Return the start of what binds the first name. It is empty if several kinds of code could bind the names."""
    name = missing.names[0]
    # a start ends after the name, or the model could continue it to a longer name
    if missing.place == "parameter":
        return f"{name}:" if _has_annotations(cursor) else name
    if missing.place == "statement":
        return f"{missing.keyword} {name} =".lstrip()
    below = decode(cursor.document.data[cursor.offset : cursor.offset + MAX_BYTES_BELOW])
    if DOCSTRING.match(below):
        return traits.function_keyword
    if re.search(rf"\b{re.escape(name)}\(", below):
        # a loop variable is rarely called
        return f"{traits.function_keyword} {name}(" if traits.function_keyword else ""
    return traits.loop_head.format(name=name) if len(missing.names) == 1 else ""


def _has_annotations(cursor: Cursor) -> bool:
    """Return whether the line above or below the cursor is a parameter with a type."""
    document = cursor.document
    line = document.line_of(cursor.offset)
    neighbours = (decode(document.line(n)) for n in (line - 1, line + 1) if 0 <= n < len(document.line_starts))
    return any(ANNOTATED_PARAMETER.match(text) for text in neighbours)
