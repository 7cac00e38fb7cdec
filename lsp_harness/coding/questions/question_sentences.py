"""Reads exact questions that are one of the sentences in `question_patterns.toml`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import cast

from lsp_harness.coding.location.task_mentions import CODE, read_task
from lsp_harness.coding.questions.question import Family, Question, QuestionSubject, read_patterns
from lsp_harness.knowledge.stdlib_tables import common_words
from lsp_harness.text.misspelling import edit_distance

FILE_FAMILIES = frozenset({"contents", "imports", "importers", "findings"})
"""Families in which “it” is a file."""
EITHER_FAMILIES = frozenset({"code", "documentation", "results"})
"""Families in which “it” is a file if no declaration was spoken of."""
MEANS_FILE = re.compile(
    r"\b(?:imports?|includes?|files?|modules?|lint|findings?|warnings?|in there|in here|in it)\b", re.IGNORECASE
)
"""Matches a question in which “it” is a file, although a declaration was spoken of, too."""
SLOTS = ("NAME", "FILE", "FOLDER", "TOPIC", "PROJECT", "END")
"""The words of the table that stand for long patterns."""
NAME_WORDS = ("SEE", "WHOLE", "CODE")
"""The words of the table, such as “body” and “view”, that are often names of declarations, too."""
MIN_WORD_CHARS, SHORT_WORD_CHARS, LONG_WORD_CHARS = 4, 5, 8
"""Words of fewer letters are not corrected, and in longer ones two slips are."""
PLAIN_WORD = re.compile(r"(?<![\w`'\"./:_$])[a-z]{4,}(?![\w`'\"/:_$(]|\.\w)")
CLAUSE_END = re.compile(r"[.:;!?,]\s+")
CLAUSE_START = re.compile(
    r"[.:;!?]\s+(?:and\s+)?|,\s+(?:and\s+|or\s+|so\s+)?(?=(?:who|what|which|where|how|is|are|does|do|can|could|please|show|list|"
    r"tell)\b)|\b(?:to\s+know|tell\s+me|to\s+see|to\s+ask|wondering|wonder)\s+(?:first\s+)?",
    re.IGNORECASE,
)
ASKS_FIRST = re.compile(
    r"\W*(?:and |so |but |or |please |can you |could you |would you |i want to |i'd like to |do you |just )*(?:who|"
    r"whom|whose|what|which|where|when|how|why|is|are|was|were|does|do|did|has|have|can|could|will|would|may|any|show|list|give|"
    r"print|find|tell|name|count|run|execute|lint|check|git|see|view|read|outline)\b",
    re.IGNORECASE,
)
"""Matches the beginning of a clause that asks by itself. A few nouns in front of a question are its subject."""
PRONOUN = re.compile(r"\b(?:it|them|this|that|those|these)$", re.IGNORECASE)
SHORT_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the is are was has had do did it in of to for by on at as or and not no so me us we i you all any my our "
        "your its their them they each both ones",
    )
)
"""Short words of questions, which are no names, even if a method is called so."""
ORDER = re.compile(
    r"(?:please\s+)?(?:add|fix|repair|mend|make|correct|change|update|write|create|remove|rename|delete|implement|let|use|"
    r"refactor|move|replace|convert|generate|explain)\b",
    re.IGNORECASE,
)


@dataclass
class _Sentence:
    """A sentence of a family. It is compiled when a text has all that it needs beside its slots."""

    family: Family
    pattern: str

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match of the sentence with a whole text, or None."""
        return self._precise.fullmatch(text) if self._rough.fullmatch(text) else None

    @cached_property
    def _rough(self) -> re.Pattern[str]:
        """Matches all that the sentence matches, and more. It is compiled ten times as fast."""
        return _compile(_expand(self.pattern, {**read_patterns()["words"], **dict.fromkeys(SLOTS, ".*")}))

    @cached_property
    def _precise(self) -> re.Pattern[str]:
        return _compile(_expand(self.pattern, read_patterns()["words"]))


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The words before and behind a question, the sentences of each family in their order, and the words in them."""

    lead: re.Pattern[str]
    tail: re.Pattern[str]
    sentences: tuple[_Sentence, ...]
    vocabulary: frozenset[str]


def read_sentence(text: str, last: QuestionSubject | None = None) -> Question | None:
    """Return the exact question that a text contains as one of the known sentences, or None.

    What is said before and behind the sentence is left out.

    Args:
        text: The prompt with single spaces.
        last: What the question before was about, for words such as “it”.
    """
    grammar = _read_grammar()
    for before, clause in _list_clauses(grammar.tail.sub("", text)):
        found = _match(grammar, clause, _find_subject(before) or last)
        # “the commits that concern router.ts, can I see them” does not want to see the file
        if found and not (before and found.family == "code" and PRONOUN.search(clause)):
            return found
    return None


def _match(grammar: _Grammar, text: str, last: QuestionSubject | None) -> Question | None:
    if lead := grammar.lead.match(text):
        text = text[lead.end() :]
    for sentence in grammar.sentences:
        family = sentence.family
        if match := sentence.match(text):
            slots = {key.partition("_")[0]: value.strip() for key, value in match.groupdict().items() if value}
            if slots.pop("pronoun", ""):
                if last and last.name and family in FILE_FAMILIES and not MEANS_FILE.search(text):
                    # “who uses it” is about the declaration
                    continue
                slot = "file" if family in FILE_FAMILIES else "name"
                if last and not last.name and family in EITHER_FAMILIES:
                    slot = "file"
                if not (meant := getattr(last, slot, "")):
                    continue
                slots[slot] = meant
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
    ends = [len(text), *(match.start() for match in reversed([*CLAUSE_END.finditer(text)]))]
    for start in [0, *(match.end() for match in CLAUSE_START.finditer(text))]:
        for end in ends:
            is_part = end > start and (start or end < len(text))
            # “the last commit, which files did it change?” asks in its second clause
            if is_part and (end == len(text) or text[end] == "?" or ASKS_FIRST.match(text, start)):
                yield text[:start], text[start:end]


def _find_subject(text: str) -> QuestionSubject | None:
    """Return the last file and the last name that a text mentions."""
    reading = read_task(text)
    inside = [range(file.start, file.end) for file in reading.sure_files]
    marked = [one for one in reading.names if one.spelling >= CODE]
    names = [one.name for one in marked if not any(one.start in span for span in inside)]
    files = [mention.path for mention in reading.files]
    return QuestionSubject(names[-1] if names else "", files[-1] if files else "") if names or files else None


def is_question_word(word: str) -> bool:
    """Return whether a word is one of the sentences, so that it is seldom the name of a declaration."""
    return word.lower() in SHORT_WORDS or word.lower() in _read_grammar().vocabulary


def correct_words(text: str) -> str:
    """Return a text in which plain words that are nearly words of the sentences are these."""
    vocabulary, known_words = _read_grammar().vocabulary, common_words()

    def correct(match: re.Match[str]) -> str:
        word = match[0]
        if word in vocabulary or word in known_words:
            return word
        limit = 2 if len(word) >= LONG_WORD_CHARS else 1
        near = [known for known in vocabulary if abs(len(known) - len(word)) <= limit and known[0] == word[0]]
        near = [known for known in near if edit_distance(word, known, limit) <= limit]
        if len(word) <= SHORT_WORD_CHARS:
            # another letter makes too many other short words
            near = [known for known in near if len(known) != len(word) or sorted(known) == sorted(word)]

        def rank(known: str) -> tuple[int, bool, int, str]:
            # exchanged letters are the likeliest slip
            return edit_distance(word, known, limit), sorted(known) != sorted(word), -len(known), known

        return min(near, key=rank, default=word)

    return PLAIN_WORD.sub(correct, text)


@cache
def _read_grammar() -> _Grammar:
    table = read_patterns()
    words: dict[str, str] = table["words"]
    families = cast("dict[Family, list[str]]", table["families"])
    sentences = tuple(_Sentence(family, line + "{END}") for family, lines in families.items() for line in lines)
    vocabulary = set[str]()
    patterns = [sentence.pattern for sentence in sentences if sentence.family != "code"]
    for pattern in [*patterns, table["lead"], table["tail"]]:
        plain = re.sub(r"\(\?P<\w+>|\\.|\[[^]]*\]", " ", _expand(pattern, {**words, **dict.fromkeys(NAME_WORDS, "")}))
        vocabulary.update(word for word in re.findall("[a-z]+", plain) if len(word) >= MIN_WORD_CHARS)
        # the letter before a question mark may be missing
        vocabulary.update(f"{word}{end}" for word, end in re.findall(r"([a-z]{3,})\(([a-z]+)(?:\|[a-z]+)*\)", plain))
    for cue in table["cues"]:
        vocabulary.update(word for word in re.findall("[a-z]+", cue["pattern"]) if len(word) >= MIN_WORD_CHARS)
    lead, tail = (_compile(_expand(table[name], words)) for name in ("lead", "tail"))
    return _Grammar(lead, tail, sentences, frozenset(vocabulary))


def _expand(pattern: str, words: Mapping[str, str]) -> str:
    while (expanded := re.sub(r"\{([A-Z]+)\}", lambda match: words[match[1]], pattern)) != pattern:
        pattern = expanded
    return pattern


def _compile(pattern: str) -> re.Pattern[str]:
    numbers = count()
    # a slot may stand in a sentence more than once
    pattern = re.sub(r"\(\?P<(\w+)>", lambda match: f"(?P<{match[1]}_{next(numbers)}>", pattern)
    pattern = re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern).replace(" ?", r"\s*").replace(" ", r"\s+")
    return re.compile(pattern, re.IGNORECASE)
