"""UNDERSTAND: what a prompt asks for, as one of five words.

Some prompts leave no choice. For the others, the model says one of the words that a grammar allows.

The prompt is always the same but for its last line, so the engine evaluates only that line. The order and the number of
the examples were chosen by measurements (docs/code-driver.md).
"""

import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Literal, cast, get_args

from lsp_harness.coding.location.task_mentions import read_task
from lsp_harness.coding.plan.plan_choice import fit_question
from lsp_harness.coding.questions.question_forms import GETS_MORE
from lsp_harness.files.secrets import redact
from lsp_harness.inference.client import Engine
from lsp_harness.inference.grammar import one_of_grammar, parse_one_of
from lsp_harness.inference.request import ChatRequest, Chunk, Sampling

Intent = Literal["edit", "explain", "fix", "generate", "other"]
INTENTS: tuple[Intent, ...] = get_args(Intent)
SYSTEM = """You sort what a programmer writes into one of five kinds. Answer with the kind and nothing else.
edit: change existing code
explain: a question about the code, nothing is changed
fix: something is wrong, such as an error, a crash, a bug or a failing test
generate: write new code, a new function, a new file, tests or documentation
other: anything else, such as a greeting or a question that is not about this code"""
EXAMPLES: tuple[tuple[str, Intent], ...] = (
    ("deploy it to the server", "other"),
    ("add a docstring to close", "generate"),
    ("E501 line too long in app.py", "fix"),
    ("describe how the scheduler works", "explain"),
    ("read_file should close the file", "edit"),
    ("what time is it?", "other"),
    ("implement a binary search", "generate"),
    ("Parser.next returns None instead of the token, correct that", "fix"),
    ("what happens if the socket is closed?", "explain"),
    ("sort the users by name in list_users", "edit"),
    ("book a table for two", "other"),
    ("create a class Queue", "generate"),
    ("make the failing test of open_socket pass", "fix"),
    ("what is the purpose of Worker?", "explain"),
    ("replace the global by an argument in start", "edit"),
    ("good morning", "other"),
    ("write unit tests for Parser", "generate"),
    ("send_mail crashes with an IndexError", "fix"),
    ("how does the cache decide what to drop?", "explain"),
    ("let read_file accept an encoding", "edit"),
)
MAX_READ_CHARS = 2_000
"""The beginning of a prompt, by whose words its intent is known."""
ANSWER_TOKENS = 5
"""Most tokens of an answer: one of the five words."""
RAISES = re.compile(
    r"\s*(?:please\s+)?(?:(?:make|let|have|teach)\s+(?!sure\b).*\b)?(?:raise|throw|reject|refuse)\b", re.IGNORECASE
)
"""A prompt that says which error code shall raise from now on, such as “make load raise …”."""
NEW_TESTS = re.compile(
    r"\s*(?:please\s+)?(?:(?:create|write|add|make|start)\s+)?(?:an?\s+|the\s+)?new\s+tests?\s+(?:file|module)\s+for\b",
    re.IGNORECASE,
)
"""A prompt that asks for a file with tests of some code."""
ASKS_FOR_TESTS = re.compile(
    r"\b(?:add|adds|write|create|generate|implement|make|give|need|needs|want|have|prepare|missing|no|could use)\s+"
    r"(?:(?!tests?\b|specs?\b)[\w'-]+\s+){0,4}(?:tests?|specs?|test\s+cases?)\b(?!\s+(?:pass|succeed|green|run|fail))|"
    r"^\W*(?:(?:please|pls|a|some|another|one|the|new|small|short)\s+)*"
    r"(?:(?:unit|regression|vitest|jest|pytest|integration)\s+)?tests?\s+(?:for|of|that)\b|"
    r"^\W*(?:(?:can|could|please|pls|you|somebody|someone|we)\s+)*test\s+(?:\S+\s+){0,4}?(?:that|whether|if)\b",
    re.IGNORECASE,
)
"""A prompt that asks for tests of some code."""
DOCSTRING_WORDS = re.compile(r"\b(?:docstrings?|doc\s+comments?|doc\s+block|jsdoc|tsdoc|rustdoc)\b", re.IGNORECASE)
"""Words for the documentation of one declaration."""
ASKS_FOR_DOCS = re.compile(
    r"\b(?:add|write|create|generate|give|need|needs|want|missing|lacks?|without|no|short|small|could use)\s+"
    rf"(?:[\w'-]+\s+){{0,4}}{DOCSTRING_WORDS.pattern}|"
    rf"^\W*(?:(?:please|pls|a|an|short)\s+)*{DOCSTRING_WORDS.pattern}\s+for\b|"
    rf"{DOCSTRING_WORDS.pattern}.*\b(?:missing|would be|wld be|needed|please|pls)\b",
    re.IGNORECASE,
)
"""A prompt that asks for the documentation of some code."""
SHALL_DO = re.compile(
    r"\b(?:should|must|shall|has to|have to|needs? to|need)\s+(?:(?:always|also|only|just|never|not|rather|now)\s+)*"
    r"(?:raise|throw|reject|refuse|return|give back|say|begin|start|accept|take|log|print|call|use|be|default|an?|"
    r"the)\b",
    re.IGNORECASE,
)
"""A prompt that says what code shall do from now on."""
MENTION = re.compile(
    r"\s*(?:(?:also|please|pls|and|then)\s+)*(?:mention|note|say|state)\b.*\bin (?:the|its|that|this) (?:\w+ )?"
    r"(?:docs?|docstring|comments?|documentation|message|text)\b",
    re.IGNORECASE,
)
"""A prompt that says what a comment or a message shall say."""
IS_WRONG = re.compile(
    r"\b(?:bugs?|buggy|crash(?:es|ed|ing)?|wrong(?:ly)?|broken|breaks?|fails?|failing|fix|repair|error in|instead of|"
    r"(?:does|do|is|are|did|was)(?:n['’]?t| not)|gives?|gets?|returns? (?!nothing)|comes out|but)\b",
    re.IGNORECASE,
)
"""Words of a prompt that says that code is wrong now."""
IS_QUESTION = re.compile(
    r"\s*(?:what|which|who|where|when|why|how|is|are|does|do|did|has|have|explain|describe|show|list|tell)\b",
    re.IGNORECASE,
)
NEW_OR_WRONG = re.compile(
    r"\b(?:tests?|docstrings?|documentation|pass|compiles?|works?\s+again|bugs?|crash(?:es|ing)?)\b", re.IGNORECASE
)


def understand_by_facts(text: str) -> tuple[Intent, str] | None:
    """Return what a prompt asks for and the reason in words, or None if its words leave a choice.

    A prompt about failing tests wants a fix. One that says which errors code shall raise wants an edit, although it
    speaks of errors. One that says what code shall do wants an edit, unless it says that the code is wrong. One for
    tests or documentation wants new code.

    Args:
        text: The prompt of the user.
    """
    text = text[:MAX_READ_CHARS]
    if read_task(text).repairs_tests:
        return "fix", "the prompt speaks of a failing test"
    if RAISES.match(text) and not NEW_OR_WRONG.search(text):
        return "edit", "the prompt says which error the code shall raise"
    if NEW_TESTS.match(text):
        return "generate", "the prompt asks for a file with tests"
    if ASKS_FOR_TESTS.search(text) and not (IS_QUESTION.match(text) or read_task(text).edits_tests):
        return "generate", "the prompt asks for tests"
    if ASKS_FOR_DOCS.search(text) and not IS_QUESTION.match(text):
        return "generate", "the prompt asks for documentation"
    if MENTION.match(text):
        return "edit", "the prompt says what a text of the code shall say"
    if GETS_MORE.search(text):
        return "edit", "the prompt says what the code shall have"
    if SHALL_DO.search(text) and not (IS_WRONG.search(text) or NEW_OR_WRONG.search(text) or IS_QUESTION.match(text)):
        return "edit", "the prompt says what the code shall do"
    return None


async def understand_prompt(engine: Engine, text: str, temperature: float) -> Intent:
    """Return what a prompt asks for. An answer that is none of the words counts as "other".

    Args:
        engine: The client of the model.
        text: The prompt. Secrets in it are not sent.
        temperature: The temperature of sampling.

    Raises:
        HarnessError: The model cannot answer.
    """
    messages = await build_messages(engine, text)
    sampling = Sampling(n_predict=ANSWER_TOKENS, temperature=temperature, grammar=one_of_grammar(INTENTS))
    answer = ""
    async with aclosing(cast("Any", engine.stream(ChatRequest(messages, sampling)))) as chunks:
        async for chunk in cast("AsyncIterator[Chunk]", chunks):
            answer += chunk.text
            if chunk.stop:
                break
    return cast("Intent", parse_one_of(answer, INTENTS) or "other")


async def build_messages(engine: Engine, text: str) -> list[tuple[str, str]]:
    """Return the messages of the question. The end of a longer text is left out: its beginning says what is asked for.

    Raises:
        HarnessError: The model cannot count tokens, or needs too many for a short text.
    """
    return await fit_question(engine, "understand", SYSTEM, EXAMPLES, (" ".join(redact(text).split()),), str)
