"""Reads which names and files a task in words mentions, and whether it asks for a change of them.

Nothing is looked up here. Whether a word is the name of a declaration is the question of `named_places`; this module
says how the task uses each word: as what has to be changed, as a means, or as something new.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lsp_harness.index.identifier_words import split_words
from lsp_harness.languages.language_table import find_language_of_file

KIND = (
    r"(?:function|method|class|constructor|struct|trait|interface|enum|component|hook|macro|generator|coroutine|"
    r"property|decorator|fixture|operation|operator|helper)"
)
DETERMINER = r"(?:the|a|an|its|our|my|your|this|that|these|those|each|every|any|some|no|all|their)"
TARGET_VERB = (
    r"(?:make|let|have|teach|allow|force|change|edit|modify|fix|repair|correct|mend|debug|update|improve|extend|"
    r"refactor|rewrite|implement|simplify|optimi[sz]e|speed\s+up|clean\s+up|tidy(?:\s+up)?|document|explain|describe|"
    r"test|cover|cache|memoi[sz]e|rename|remove|delete|drop|deprecate|inline|split|move|annotate|harden|adapt|adjust|"
    r"convert|turn|look\s+at|work\s+on|review|understand|shorten|restore|"
    r"(?:how|why|what|where|when)\s+(?:do|does|did|is|are|can|could|should|would|must|will)|"
    r"who\s+(?:calls|uses)|what\s+(?:calls|uses)|how|why|where|what)"
)
"""Words directly before what a task wants to be changed or explained."""
PREPOSITION = r"(?:in|inside|within|of|to|for|from|into)"
NO_TARGET = (
    r"(?:us(?:e|es|ing)|call(?:s|ing)?|invok(?:e|es|ing)|rais(?:e|es|ing)|throw(?:s|ing)?|return(?:s|ing)?|"
    r"catch(?:es|ing)?|except|handl(?:e|es|ing)|with|without|via|through|like|as|than|by|before|after|not|"
    r"instead\s+of|rather\s+than|similar\s+to|equal\s+to|same\s+as|(?:calls?|links?|compared|belongs?)\s+to|"
    r"(?:inherits?|derives?|imports?|subclass(?:es)?)\s+(?:from\s+)?|instances?\s+of|subclass(?:es)?\s+of|"
    r"import(?:s|ing)?|based\s+on|"
    r"parameters?|arguments?|params?|args?|options?|keywords?|flags?|fields?|attributes?|keys?|variables?|"
    r"named|called|defaults?(?:\s+to)?|accepts?|tak(?:e|es)|supports?)"
)
"""Words directly before a name that the task needs, but does not want to be changed."""
CREATION = re.compile(
    r"\b(?:add|create|write|introduce|define|generate|append|new)\b"
    r"(?:\s+(?!to\b|in\b|of\b|for\b|into\b|from\b|on\b|that\b|and\b)[\w-]+){0,6}\s*\Z",
    re.IGNORECASE,
)
"""Text before the name of something that does not exist yet."""
NEW_NAME = re.compile(r"\b(?:rename|convert|change|turn|move)\b[^.;\n]*\b(?:to|into|as)\s+\Z", re.IGNORECASE)
PREDICATE = re.compile(
    r"\s*(?::(?!:)|[-–]\s|['’]s\b|,?\s*(?:which\s+)?(?:should|shall|must|ha(?:s|ve)|needs?|ought|may|might|can(?:not)?|can['’]t|could|"
    r"would|will|won['’]t|do(?:es)?(?:n['’]t)?|fail(?:s|ed)?|crash(?:es|ed)?|hangs?|breaks?|returns?|raises?|throws?|"
    r"accepts?|ignores?|drops?|loses?|takes?|gives?|is(?:n['’]t)?|are(?:n['’]t)?|was|leaks?|never|always|no\s+longer|"
    r"only|silently|wrongly|incorrectly|mishandles?|misses|skips?|rejects?|allows?|deletes?|writes|reads|prints|"
    r"computes|produces?|yields?|swallows?|uses|calls|doubles?|forgets?|blocks?|mutates?|modifies|overwrites?|"
    r"treats?|escapes?|truncates?|rounds)\b)",
    re.IGNORECASE,
)
"""Text behind a name that is the subject of a sentence."""
CLAUSE_START = re.compile(r"(?:\A|[.!?;:\n])\s*(?:please\s+|in\s+general,?\s+|currently,?\s+)?\Z", re.IGNORECASE)
IN_FILE = re.compile(r"\s+(?:in|of|from)\s+(?:the\s+)?(?:file\s+)?[`'\"]?[\w./-]+\.[A-Za-z]\w{0,4}[`'\"]?")
"""Matches the file behind a name: “decrement in operations.py should …”."""
WISHED = re.compile(r"(?:\A|[.!?;:,\n]\s*|\bhi\s+|\bhello\s+)(?:can|could|may)\s+\Z", re.IGNORECASE)
"""Matches the text before the subject of a polite wish: “can increment get an optional step?”."""
LATER_CLAUSE = re.compile(r"(?:,|\b(?:that|but|so|and|because|since))\s*\Z", re.IGNORECASE)
CONDITION = re.compile(r"\b(?:if|when|while|where|until|unless|whenever)\s+\Z", re.IGNORECASE)
AFTER_NOUN = re.compile(
    r"\s*(?:\Z|[.,;:!?)\n]|(?:and|or|if|when|that|so|which|to|for|in|on|by|with|without|while|because|but|as|is|are|"
    r"should|must|can|has|does|then|from|of|at|instead|rather|not|too|also|where|until|unless|only|into|pls|plz|please|thanks)\b)",
    re.IGNORECASE,
)
"""Text behind a word that is a name, and not a verb or the first part of a longer expression."""
INFINITIVE = re.compile(
    r"\b(?:way|able|want|wants|need|needs|tr(?:y|ies)|used|ha(?:ve|s)|like|order|going|possible|easy|how|ability|"
    r"option|command|chance|it|them|users?|people|us|me)\s+to\s+\Z",
    re.IGNORECASE,
)
NO_NAMES = frozenset(
    [
        "sure",
        "it",
        "all",
        "them",
        "this",
        "that",
        "these",
        "those",
        "there",
        "something",
        "everything",
        "nothing",
        "me",
        "us",
        "him",
        "her",
        "you",
        "i",
        "we",
        "they",
        "he",
        "she",
        "one",
        "a",
        "an",
        "the",
        "and",
        "or",
        "not",
        "no",
        "if",
        "is",
        "are",
        "be",
        "do",
        "does",
        "so",
        "such",
        "only",
        "more",
        "less",
        "public",
        "private",
        "possible",
        "use",
        "sense",
        "code",
        "error",
        "errors",
        "bug",
        "bugs",
        "tests",
        "docs",
        "of",
        "to",
        "for",
        "in",
        "from",
        "into",
        "with",
        "by",
        "on",
        "at",
        "as",
        "how",
        "why",
        "what",
        "where",
        "when",
        "who",
        "which",
    ]
)
"""Plain words that are no name, whatever the index declares."""
QUOTES = {"`": "`", "'": "'", '"': '"', "“": "”", "‘": "’", "«": "»"}
NEAR_CHARS = 200
"""So many characters before and behind a name say how it is used. More would take minutes in a long pasted text."""
NAME = re.compile(r"(?<![\w$])[^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)*|(?<![\w/])[A-Z]\w*/[^\W\d]\w*(?![\w/.])")
CALL = re.compile(r"\((?:[^()\n]|\([^()\n]*\))*\)")
CHAINED = re.compile(r"\.[^\W\d]\w*\(")
"""Matches the next call of a chain of calls."""
SENTENCE_IN_QUOTES = re.compile(r"\"[^\"\n]*\s[^\"\n]*\"|“[^”\n]*\s[^”\n]*”")
FILE = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[\w./\\@+~-]*[\w\])-]\.[A-Za-z][A-Za-z0-9]{0,5})(?!\w|\((?!\d+[,)]))"
    r"(?:(?::|#L?|,?\s+\(?(?:on\s+|at\s+)?lines?\s+|\(|\",\s+line\s+)(?P<first>\d+)(?:\s*(?:-|–|:|to)\s*L?(?P<last>\d+))?(?:,\d+\))?\)?)?"
)
LINE_BEFORE = re.compile(r"\blines?\s+(\d+)(?:\s*(?:-|–|to)\s*(\d+))?\s+(?:of|in)\s+[`'\"“]?\Z", re.IGNORECASE)
PLACE_BEFORE = re.compile(
    rf"(?<!as )(?<!like )(?<!written )\b(?:in|inside|within)\s+(?:{DETERMINER}\s+)?(?:file\s+|module\s+)?[`'\"“]?\Z",
    re.IGNORECASE,
)
PRODUCT = re.compile(r"[A-Z]\w*\.js\Z")
"""A name such as `Next.js`, which is no file."""

TEST = r"(?:tests?|specs?|test_\w+|Test[A-Z]\w*)"
FAILING = re.compile(r"\b(?:fail(?:s|ing|ed|ures?)?|broken|breaks?|red|pass(?:es|ing)?|green)\b", re.IGNORECASE)
TEST_NAMED = re.compile(rf"\b{TEST}\b", re.IGNORECASE)
REPAIR = re.compile(
    rf"\b(?:fix|repair|mend|debug)\s+(?:(?:the|my|our|this|that|these|all|both)\s+)?(?:[`'\"]?(?:[\w./]+::)?[\w.]*)?{TEST}\b"
    r"(?!\s+(?:file|name|helper|data|fixture|setup|configuration|settings?|itself))",
    re.IGNORECASE,
)
EDIT_OF_TEST = re.compile(
    r"\b(?:update|change|edit|modify|rewrite|adapt|adjust|delete|remove|drop|skip|disable|rename|move|split|refactor|"
    r"simplify|extend|improve|mark|parametri[sz]e|document|explain|describe|format|shorten|clean\s+up)\s+"
    rf"(?:(?!so\b|that\b|until\b|to\b|code\b|in\b|of\b|for\b|under\b|how\b|why\b)[\w.'`]+\s+){{0,5}}[`'\"]?{TEST}\b(?!\s+fails)"
    r"|\b(?:test|tests|test_\w+)[`'\"]?\s+(?:itself|themselves|(?:is|are|was)\s+(?:wrong|outdated|incorrect|obsolete))\b"
    r"|\bwrong\s+tests?\b",
    re.IGNORECASE,
)
INSIDE_TEST = re.compile(r"\b(?:in|of)\s+(?:the\s+)?(?:tests?\s+)?[`'\"]?test_\w+", re.IGNORECASE)
INQUIRY = re.compile(
    r"\s*(?:explain|describe|why|what|how|where|who|which|does|do|is|are|show|tell|list)\b", re.IGNORECASE
)
ORDER = re.compile(r"\b(?:fix|repair|mend|make|correct|change|update)\b", re.IGNORECASE)

TARGET, SUBJECT, NAMED_KIND, NEUTRAL, MEANS = 2.0, 2.0, 1.0, 0.0, -2.0
"""How much the place of a word in a sentence says that it is what the task wants to be changed."""
QUOTED, CODE, CAPITAL, PLAIN = 2.0, 1.5, 0.5, 0.0
"""How much the spelling of a word says that it is the name of a declaration."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A word of a task that may be the name of a declaration.

    Attributes:
        name: The name, with dots between its parts.
        start: Where it begins in the task.
        end: The offset of its end in the task.
        spelling: How much its spelling says that it is a name: QUOTED, CODE, CAPITAL or PLAIN.
        role: How much the sentence says that it is to be changed.
        is_new: Whether the task speaks of something that does not exist yet.
    """

    name: str
    start: int
    end: int
    spelling: float
    role: float
    is_new: bool = False

    @property
    def last(self) -> str:
        """The part behind the last dot."""
        return self.name.rpartition(".")[2]

    @property
    def weight(self) -> float:
        """How likely it is that this name is the one to change."""
        return self.spelling + self.role


@dataclass(frozen=True, slots=True)
class FileMention:
    """A file of a task.

    Attributes:
        path: The path, or the end of it.
        start: Where it begins in the task.
        end: The offset of its end in the task.
        first: The first line, from 1, or 0 without lines.
        last: The last line, or 0 without lines.
        is_place: Whether the task says that something is in this file.
    """

    path: str
    start: int
    end: int
    first: int = 0
    last: int = 0
    is_place: bool = False


@dataclass(frozen=True, slots=True)
class TaskReading:
    """The names and files that a task mentions, and what it asks for.

    Attributes:
        names: The words that may be names, in their order.
        files: The texts that may be files, in their order.
        repairs_tests: Whether the task wants failing tests to pass.
        edits_tests: Whether the task wants a test itself to be changed.
    """

    names: tuple[Mention, ...]
    files: tuple[FileMention, ...]
    repairs_tests: bool
    edits_tests: bool

    @property
    def sure_files(self) -> "list[FileMention]":
        """The texts that are surely files: they have a folder, or the suffix of a language."""
        return [file for file in self.files if is_surely_file(file.path)]

    @property
    def only_file(self) -> "FileMention | None":
        """The file that the task mentions, if it mentions no line of it, no other file and no name outside of it."""
        [file, *others] = self.files or (None,)
        if file is None or others or file.first:
            return None
        outside = [one for one in self.names if not file.start <= one.start < file.end]
        return None if any(one.spelling >= CODE for one in outside) else file


def is_surely_file(word: str) -> bool:
    """Return whether a word has a folder or the suffix of a language, so that it is no name with a dot."""
    return "/" in word or find_language_of_file(word) is not None


@lru_cache(maxsize=64)
def read_task(task: str) -> TaskReading:
    """Return what a task mentions."""
    files = tuple(_find_files(task))
    hidden = [match.span() for match in SENTENCE_IN_QUOTES.finditer(task)]
    names = [
        mention
        for mention in _find_names(task)
        if not (mention.spelling < QUOTED and any(start < mention.start < end for start, end in hidden))
    ]
    speaks_of_failure = FAILING.search(task) is not None
    edits_tests = bool(EDIT_OF_TEST.search(task) or (not speaks_of_failure and INSIDE_TEST.search(task)))
    asks = INQUIRY.match(task) is not None and not ORDER.search(task)
    repairs_tests = not (edits_tests or asks) and bool(
        REPAIR.search(task) or (speaks_of_failure and TEST_NAMED.search(task))
    )
    return TaskReading(tuple(names), files, repairs_tests, edits_tests)


def _find_files(task: str) -> Iterator[FileMention]:
    for match in FILE.finditer(task):
        first, last = match["first"] or "0", match["last"] or match["first"] or "0"
        text_before = task[max(0, match.start() - NEAR_CHARS) : match.start()]
        if first == "0" and (before := LINE_BEFORE.search(text_before)):
            first, last = before[1], before[2] or before[1]
        numbers = int(first), int(last)
        is_column = match["last"] and task[match.end("first") : match.start("last")].strip() == ":"
        if is_column or numbers[1] < numbers[0]:
            numbers = numbers[0], numbers[0]
        is_place = bool(PLACE_BEFORE.search(text_before)) and not PRODUCT.match(match["path"])
        yield FileMention(match["path"].lstrip("@"), match.start(), match.end(), *numbers, is_place)


def _find_names(task: str) -> Iterator[Mention]:
    arguments: tuple[int, int] = (0, 0)
    chain_start = -1
    for match in NAME.finditer(task):
        start, end = match.span()
        # in `where('name').matches('x')`, the last member stands for the whole chain
        is_chained = task[start - 1 : start] == "." and start - 1 == arguments[1]
        sentence_start = chain_start = chain_start if is_chained else start
        file, separator, _ = match[0].partition("::")
        if separator and FILE.fullmatch(file):
            # the id of a test: tests/test_cart.py::test_total
            start += len(file) + len(separator)
        if arguments[0] < start < arguments[1]:
            continue
        call = CALL.match(task, end)
        behind = call.end() if call else end
        if call:
            arguments = call.span()
        is_quoted = QUOTES.get(task[start - 1 : start], "-") == task[behind : behind + 1]
        is_head = call is not None and CHAINED.match(task, behind) is not None
        name = re.sub(r"::|#|->|/", ".", task[start:end])
        spelling = _rate_spelling(task, name, start, is_marked=is_quoted or call is not None)
        first = max(0, sentence_start - is_quoted - NEAR_CHARS)
        before = task[first : sentence_start - is_quoted]
        after = task[behind + is_quoted : behind + is_quoted + NEAR_CHARS]
        role, is_new = (MEANS, False) if is_head else _rate_role(before, after, is_plain=spelling <= CAPITAL)
        if spelling == PLAIN and (name.lower() in NO_NAMES or role < NAMED_KIND):
            role = min(role, NEUTRAL)
            if name.lower() in NO_NAMES:
                continue
        yield Mention(name, start, end, spelling, role, is_new)


def _rate_spelling(task: str, name: str, start: int, *, is_marked: bool) -> float:
    if is_marked:
        return QUOTED
    if "." in name or "_" in name or split_words(name) != name:
        return CODE
    return (
        CAPITAL if name[:1].isupper() and not CLAUSE_START.search(task[max(0, start - NEAR_CHARS) : start]) else PLAIN
    )


def _rate_role(before: str, after: str, *, is_plain: bool) -> tuple[float, bool]:
    """Return how much a sentence wants a name to be changed, and whether the name is new.

    Args:
        before: The text before the name.
        after: The text behind it.
        is_plain: Whether the name is spelled like a word, which may be a verb or a noun.
    """
    has_kind = re.match(rf"\s+{KIND}\b", after, re.IGNORECASE) is not None
    kind_before = re.search(rf"\b{KIND}\s+\Z", before, re.IGNORECASE)
    has_kind = has_kind or kind_before is not None
    head = before[: kind_before.start()] if kind_before else before
    determiner = re.search(rf"\b{DETERMINER}\s+\Z", head, re.IGNORECASE)
    if CREATION.search(head) or NEW_NAME.search(before):
        return MEANS, True
    head = head[: determiner.start()] if determiner else head
    if re.search(rf"\b{NO_TARGET}\s+\Z", head, re.IGNORECASE) or head.endswith((".", "=")):
        return MEANS, bool(re.search(r"\b(?:named|called)\s+\Z", head, re.IGNORECASE))
    if is_plain and determiner and not has_kind:
        # an ordinary noun: “the discount”
        return NEUTRAL, False
    if CONDITION.search(head):
        return (NAMED_KIND, False) if PREDICATE.match(after) else (NEUTRAL, False)
    behind = after[place.end() :] if (place := IN_FILE.match(after)) else after
    if (CLAUSE_START.search(head) and PREDICATE.match(behind)) or WISHED.search(head):
        return SUBJECT, False
    if re.search(rf"\b{TARGET_VERB}\s+\Z", head, re.IGNORECASE):
        return TARGET, False
    if match := re.search(rf"\b({PREPOSITION})\s+\Z", head, re.IGNORECASE):
        is_name = not is_plain or has_kind or _is_noun(match[1].lower(), head, after)
        return (TARGET if is_name else NEUTRAL), False
    if LATER_CLAUSE.search(head) and PREDICATE.match(after):
        return NAMED_KIND, False
    return (NAMED_KIND if has_kind else NEUTRAL), False


def _is_noun(preposition: str, head: str, after: str) -> bool:
    """Return whether a plain word behind a preposition can be the name of a declaration."""
    return AFTER_NOUN.match(after) is not None and not (preposition == "to" and INFINITIVE.search(head))
