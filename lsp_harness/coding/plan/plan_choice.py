"""The model's decision about each item of a plan, and the conversation that asks for one of a few words."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any, cast

from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.files.secrets import redact
from lsp_harness.inference.client import Engine
from lsp_harness.inference.grammar import one_of_grammar, parse_one_of
from lsp_harness.inference.prompt_ceilings import CEILINGS, PromptName, PromptTooLongError, count_messages
from lsp_harness.inference.request import ChatRequest, Chunk, Sampling

MIN_PART_CHARS = 80
"""The parts of a question are not cut to fewer characters as long as examples can be left out instead."""

Messages = list[tuple[str, str]]


async def fit_question(
    engine: Engine,
    name: PromptName,
    system: str,
    examples: Sequence[tuple[str, str]],
    parts: Sequence[str],
    write: Callable[..., str],
) -> Messages:
    """Return the messages of a question, which have no more tokens than the ceiling of their prompt.

    The end of the longest part is cut until the question fits. If all parts are short, the first examples are left out:
    another model may need several times the tokens for the same text.

    Args:
        engine: The client of the model.
        name: The name of the prompt.
        system: The system prompt.
        examples: Pairs of a question and its answer.
        parts: The texts of the question.
        write: Returns the question with the parts that are left.

    Raises:
        PromptTooLongError: The model needs too many tokens even for a short question without examples.
    """
    kept, shown = list(parts), list(examples)
    limit = CEILINGS[name].tokens
    while True:
        messages = [("system", system)]
        for question, answer in shown:
            messages += [("user", question), ("assistant", answer)]
        messages.append(("user", write(*kept)))
        tokens = await count_messages(engine, messages)
        if tokens <= limit:
            return messages
        longest = max(range(len(kept)), key=lambda index: len(kept[index]))
        if len(kept[longest]) > MIN_PART_CHARS:
            kept[longest] = kept[longest][: len(kept[longest]) // 2]
        elif shown:
            # several at once, because each try is a request to the tokenizer
            del shown[: 1 + len(shown) // 8]
        else:
            raise PromptTooLongError(f"this model needs {tokens} tokens for a question that may have {limit}")


CHANGE, KEEP, SWAP = "change", "keep", "swap"
"""Accept the item, drop it, or accept it after the next one."""
SYSTEM = """A programmer changes a function. Another function uses it. Must the other one be changed, too? Answer with
one word. change: the calls no longer fit. keep: the calls still work. swap: the calls no longer fit, and the next one,
which this one calls, must be changed first."""
EXAMPLES = (
    ("let read return bytes", "read", "caller main: show(count(read(path)))", "caller count: len(read(path))", SWAP),
    ("rename the parameter size of crop to width", "crop", "caller thumb: crop(image, size=9)", CHANGE),
    ("let load take a path and not a name", "load", "caller main: load('a')", CHANGE),
    ("remove the argument verbose of run", "run", "caller start: run(True, verbose=False)", CHANGE),
    ("log each call of fetch", "fetch", "test test_fetch: assert fetch(1) == 2", KEEP),
    ("make open_file async", "open_file", "caller read: file = open_file(name)", CHANGE),
    ("add a docstring to close", "close", "caller stop: self.close()", KEEP),
    ("return a tuple from split instead of a list", "split", "caller first: split(text).append(1)", CHANGE),
    ("make send faster with a cache", "send", "caller loop: send(message)", KEEP),
    ("let scan take a limit", "scan", "caller main: print(list_all(scan(path)))", "caller list_all: scan(path)", SWAP),
    ("let area take the radius and a unit", "area", "caller report: total += area(3)", CHANGE),
    ("add input validation to load", "load", "caller main: data = load(path)", KEEP),
    ("check the input of push", "push", "caller fill: stack.push(item)", KEEP),
    ("use a generator in walk", "walk", "caller main: for file in walk(folder):", KEEP),
    ("let parse return a Fraction", "parse", "caller show: print(parse(text))", KEEP),
)
"""The order counts: a small model prefers what the last examples say (docs/code-driver.md)."""
ANSWER_TOKENS = 3
KEEPS_CALLS = re.compile(
    r"\boptional\b|\bdefaults?\b|\bkeyword[- ]only\b|\b(?:docstrings?|comments?|documentation)\b|"
    r"\b(?:type hints?|annotations?|raises?|throws?|rejects?|validates?|validation|checks?)\b",
    re.IGNORECASE,
)
"""A change after which the calls still work: an optional parameter, a text about the code, or a check of the input."""
CHANGES_CALLS = re.compile(
    r"\b(?:rename|callers?|calls|everywhere|all (?:uses|usages|places)|required|remove|delete|async|instead of)\b|"
    r"\breturn\b",
    re.IGNORECASE,
)
"""A change that says something about the calls, or what they get."""
SPEAKS_OF_CALLS = re.compile(
    r"\b(?:parameters?|params?|arguments?|args?|signature|returns?|returned|yields?|async|await|coroutine|rename|remove|"
    r"delete|drop|move|replace|takes?|accepts?|pass(?:es|ed)?|tuple|generator|instead of|order|required|interface|"
    r"calls?|callers?)\b",
    re.IGNORECASE,
)
"""A change of what calls pass or get."""
ADDS_DECLARATION = re.compile(
    r"\b(?:add|create|write|implement|introduce|define|could use|needs?|wants?|want)\s+"
    r"(?:(?:an?|the|one|another|new|public|private|static|small|simple|class|instance|helper)\s+)*"
    r"(?:methods?|functions?|property|properties|class|helper|constructor|attribute|type guard|getter|setter|constant|"
    r"test)\b",
    re.IGNORECASE,
)
"""A change that adds a declaration, which nothing calls yet."""
CALLERS = re.compile(r"\b(?:callers?|everywhere|all (?:uses|usages|places))\b", re.IGNORECASE)


def keeps_calls(task: str, item: PlannedItem) -> bool:
    """Return whether the words of a task leave no choice about an item: the calls of a caller or a test still work."""
    if item.role not in ("caller", "test") or CALLERS.search(task):
        return False
    if ADDS_DECLARATION.search(task) or not SPEAKS_OF_CALLS.search(task):
        return True
    return KEEPS_CALLS.search(task) is not None and not CHANGES_CALLS.search(task)


async def decide_item(
    engine: Engine, task: str, symbol: str, item: PlannedItem, following: PlannedItem | None = None
) -> str:
    """Return CHANGE, KEEP or SWAP for an item. An answer that is none of these words is KEEP.

    Args:
        engine: The client of the model.
        task: The task in words.
        symbol: The symbol that the task changes.
        item: The item of the plan.
        following: The next item, if it may come before this one. Without it, SWAP is no answer.

    Raises:
        HarnessError: The model cannot answer.
    """
    messages = await build_messages(engine, task, symbol, item, following)
    words = (CHANGE, KEEP, SWAP) if following else (CHANGE, KEEP)
    sampling = Sampling(n_predict=ANSWER_TOKENS, grammar=one_of_grammar(words))
    answer = ""
    async with aclosing(cast("Any", engine.stream(ChatRequest(messages, sampling)))) as chunks:
        async for chunk in cast("AsyncIterator[Chunk]", chunks):
            answer += chunk.text
            if chunk.stop:
                break
    return parse_one_of(answer, words) or KEEP


async def build_messages(
    engine: Engine, task: str, symbol: str, item: PlannedItem, following: PlannedItem | None = None
) -> list[tuple[str, str]]:
    """Return the messages of the question. The ends of long texts are left out.

    Raises:
        HarnessError: The model cannot count tokens, or needs too many for a short question.
    """
    examples = [(_format_question(*texts), answer) for *texts, answer in EXAMPLES]
    uses = [_describe_use(item), *([_describe_use(following)] if following else [])]
    parts = (" ".join(redact(task).split()), symbol, *uses)
    return await fit_question(engine, "plan", SYSTEM, examples, parts, _format_question)


def _describe_use(item: PlannedItem) -> str:
    return redact(f"{item.role} {item.symbol or 'code'}: {item.reason.partition(': ')[2] or item.reason}")


def _format_question(task: str, symbol: str, use: str, following: str = "") -> str:
    return f"Task: {task}\nChanged: {symbol}\nOther {use}" + (f"\nNext {following}" if following else "")
