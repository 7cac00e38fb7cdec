"""Reads which exact question a prompt asks: a family, and the name, the file or the kind that it is about.

The sentences are in `question_patterns.toml`. A prompt that fits none of them is no exact question. Nothing is looked
up here: whether a name exists is the question of the answer.
"""

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Literal, cast

from lsp_harness.coding.location.task_mentions import CODE, read_task
from lsp_harness.disk.file_reading import read_text
from lsp_harness.text.misspelling import edit_distance

Family = Literal[
    "where",
    "contents",
    "members",
    "callers",
    "callees",
    "tests",
    "kinds",
    "signature",
    "documentation",
    "subtypes",
    "bases",
    "raises",
    "imports",
    "importers",
    "changes",
    "commits",
    "last_commit",
    "findings",
]
MAX_CHARS = 200
"""A longer prompt says more than a question for a fact."""
FILE_FAMILIES = frozenset({"contents", "imports", "importers", "findings"})
"""Families in which “it” is a file."""
MIN_WORD_CHARS, LONG_WORD_CHARS = 4, 8
"""Words of fewer letters are not corrected, and in longer ones two slips are."""
CONTRACTION = re.compile(r"\b(what|where|who|how)s\b", re.IGNORECASE)
PLAIN_WORD = re.compile(r"(?<![\w`'\"./:_$])[a-z]{4,}(?![\w`'\"/:_$(]|\.\w)")
CLAUSE_END = re.compile(
    r"[.:;!?,]\s+(?:and\s+)?|\b(?:to\s+know|tell\s+me|to\s+see|to\s+ask|wondering|wonder)\s+(?:first\s+)?",
    re.IGNORECASE,
)
ORDER = re.compile(
    r"(?:please\s+)?(?:add|fix|repair|mend|make|correct|change|update|write|create|remove|rename|delete|implement|let|use|"
    r"refactor|move|replace|convert|generate|explain)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionSubject:
    """The subject of a question: the name of a declaration and the path of a file. Each may be empty."""

    name: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """An exact question.

    Attributes:
        family: What is asked.
        name: The name of the declaration that the question is about, with dots between its parts. It may be empty.
        file: The path, or the end of the path, of the file that the question is about. It may be empty.
        folder: The folder that the question is limited to. It may be empty.
        topic: The kind of declarations that are wanted, in lower case and as it was written. It may be empty.
    """

    family: Family
    name: str = ""
    file: str = ""
    folder: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The words before and behind a question, the sentences of each family in their order, and the words in them."""

    lead: re.Pattern[str]
    tail: re.Pattern[str]
    sentences: tuple[tuple[Family, re.Pattern[str]], ...]
    vocabulary: frozenset[str]


def read_question(prompt: str, last: QuestionSubject | None = None) -> Question | None:
    """Return the exact question that a prompt asks, or None if it asks none.

    What is said before the question is left out, and a word with a typing slip counts as the word that is meant.

    Args:
        prompt: The prompt of the user.
        last: What the question before was about, for words such as “it”.
    """
    if len(prompt) > MAX_CHARS:
        return None
    grammar = _read_grammar()
    text = CONTRACTION.sub(r"\1's", " ".join(prompt.replace("’", "'").split()))
    text = grammar.tail.sub("", text)
    for reading in (text, _correct_words(text, grammar.vocabulary)):
        for before, clause in _list_clauses(reading):
            if found := _match(grammar, clause, _find_subject(before) or last):
                return found
    return None


def _match(grammar: _Grammar, text: str, last: QuestionSubject | None) -> Question | None:
    if lead := grammar.lead.match(text):
        text = text[lead.end() :]
    for family, sentence in grammar.sentences:
        if match := sentence.fullmatch(text):
            slots = {key.partition("_")[0]: value.strip() for key, value in match.groupdict().items() if value}
            if slots.pop("pronoun", ""):
                if last is None or not (last.file if family in FILE_FAMILIES else last.name):
                    continue
                slots["file" if family in FILE_FAMILIES else "name"] = (
                    last.file if family in FILE_FAMILIES else last.name
                )
            slots["name"] = re.sub("::|#", ".", slots.get("name", ""))
            slots["topic"] = slots.get("topic", "").lower()
            return Question(family, **slots)
    return None


def _list_clauses(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a text that may be the question, the first and longest ones first, with what is before each.

    What begins with an order is no introduction of a question.
    """
    yield "", text
    if ORDER.match(text):
        return
    ends = [*CLAUSE_END.finditer(text)]
    starts = [0, *(match.end() for match in ends)]
    for start in starts:
        for end in [len(text), *(match.start() for match in reversed(ends))]:
            if end > start and (start or end < len(text)):
                yield text[:start], text[start:end]


def _find_subject(text: str) -> QuestionSubject | None:
    """Return the last file and the last name that a text mentions."""
    reading = read_task(text)
    names = [mention.name for mention in reading.names if mention.spelling >= CODE]
    files = [mention.path for mention in reading.files]
    return QuestionSubject(names[-1] if names else "", files[-1] if files else "") if names or files else None


def _correct_words(text: str, vocabulary: Collection[str]) -> str:
    """Return a text in which plain words that are nearly words of the grammar are these."""

    def correct(match: re.Match[str]) -> str:
        word = match[0]
        limit = 2 if len(word) >= LONG_WORD_CHARS else 1
        near = [known for known in vocabulary if abs(len(known) - len(word)) <= limit and known[0] == word[0]]
        near = [known for known in near if edit_distance(word, known, limit) <= limit]
        if word in vocabulary or not near:
            return word
        # exchanged letters are the likeliest slip
        return min(near, key=lambda one: (edit_distance(word, one, limit), sorted(one) != sorted(word), -len(one), one))

    return PLAIN_WORD.sub(correct, text)


@cache
def _read_grammar() -> _Grammar:
    table = tomllib.loads(read_text(Path(__file__).with_name("question_patterns.toml")))
    words: dict[str, str] = table["words"]
    vocabulary = set[str]()

    def compile_pattern(pattern: str) -> re.Pattern[str]:
        while (expanded := re.sub(r"\{([A-Z]+)\}", lambda match: words[match[1]], pattern)) != pattern:
            pattern = expanded
        plain = re.sub(r"\(\?P<\w+>|\\.|\[[^]]*\]", " ", pattern)
        vocabulary.update(word for word in re.findall("[a-z]+", plain) if len(word) >= MIN_WORD_CHARS)
        # the letter before a question mark may be missing
        vocabulary.update(f"{word}{end}" for word, end in re.findall(r"([a-z]{3,})\(([a-z]+)(?:\|[a-z]+)*\)", plain))
        numbers = count()
        # a slot may stand in a sentence more than once
        pattern = re.sub(r"\(\?P<(\w+)>", lambda match: f"(?P<{match[1]}_{next(numbers)}>", pattern)
        pattern = re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern).replace(" ?", r"\s*").replace(" ", r"\s+")
        return re.compile(pattern, re.IGNORECASE)

    families = cast("dict[Family, list[str]]", table["families"])
    sentences: tuple[tuple[Family, re.Pattern[str]], ...] = tuple(
        (family, compile_pattern(sentence + "{END}")) for family, lines in families.items() for sentence in lines
    )
    return _Grammar(compile_pattern(table["lead"]), compile_pattern(table["tail"]), sentences, frozenset(vocabulary))
