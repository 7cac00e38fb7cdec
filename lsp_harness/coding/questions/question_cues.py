"""Reads what a prompt asks if it is none of the known sentences, by its words: who, calls, tests, raises and so on.

The names and the files in the prompt are known first. Then the first cue of `question_patterns.toml` counts that is
found in a clause which asks something. A prompt with a clause that orders a change is a task, and no question.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from lsp_harness.coding.location.task_mentions import CODE, QUOTED, FileMention, Mention, read_task
from lsp_harness.coding.questions.question import Family, Question, QuestionSubject, read_patterns
from lsp_harness.coding.questions.question_sentences import MEANS_FILE, is_question_word

CLAUSE_END = re.compile(
    r"(?<=[.:;!?])\s+|[,;]\s+(?=(?:could|can|would|please|so|but|and|then|who|what|which|where|how|is|are)\b)|\s[-–]\s"
)
QUESTION_WORD = r"(?:who|whom|whose|which|what|what's|where|where's|who's|how (?:many|often))"
ASKS_FIRST = re.compile(
    rf"\W*(?:(?:but|and|so|or|then|hi|hello|sorry)\b\W*)*"
    rf"(?:(?:from|in|by|to|for|at|on|with|of) (?:NAME,? |FILE,? )?)?"
    rf"(?:{QUESTION_WORD}|is|are|does|do|did|has|have|was|were|any)\b"
)
"""Words with which only questions begin."""
SHOW_FIRST = re.compile(
    r"\W*(?:(?:please|pls|can you|could you|would you|hi|hello)\b\W*)*(?:name|give|tell|point|find|print|read|count|"
    r"walk|list|show|summari[sz]e|outline|looking for|search for|i need|i want|i mean|need|want|everything|everyone|"
    r"number of)\b"
)
ASKS = re.compile(
    rf"\b(?:NAME|FILE)\W+\w+\W+(?:what|which|how (?:many|often))\b|"
    rf"\b(?:know|knows|see|say|sure|idea|remember|out|check|understand|learn|list|me|us|need|want|is|are)\W+"
    rf"(?:\w+ ){{0,2}}{QUESTION_WORD}\b|\?|\b(?:please|pls)\W*$|"
    r"\b(?:looking for|curious|wondering|(?:give|show|tell|point) me)\b|"
    r"^\W*(?:the |all |all the )?(?:callers?|usages?|users?|uses|references|call sites|fields|methods|members|"
    r"attributes|subclasses|implementations|parameters|arguments|signature|docs?|docstring|documentation|tests|imports|"
    r"importers|exceptions|errors|files|functions|classes|contents?|outline|base class)\s+"
    r"(?:of|for|in|to|by|from|on|touched|changed)\b"
)
"""Words of a clause that asks something, and does not only tell.

A question word in the middle needs a word before it that asks, because an instruction may have one, too: “double what
load returns”.
"""
NO_FACT = re.compile(
    r"^\W*(?:why|how(?! (?:many|often|is \S+ (?:declared|documented|tested)|"
    r"(?:do|can|should) (?:i|we) (?:call|invoke))))\b(?!.*\bcomment)|"
    r"(?:/|\bor |\band )(?:how|why)\b|\b(?:returns?|gives? back)\b.*\b(?:when|if|for|unless)\b|"
    r"\bwhat (?:do|does|did) (?:NAME(?: in FILE)?|FILE|it|this|that) do\b|\bexplain\b|\bmeans?\b(?! its)|"
    r"\bhappens?\b|\b(?:NAME|it|this|that|code) works?\b"
)
"""Questions that no exact answer answers."""
ORDER = re.compile(
    r"\b(?:add|fix|repair|mend|make|let|correct|write|create|implement|refactor|rewrite|rename|remove|delete|replace|convert|"
    r"generate|move|change|update|improve|optimi[sz]e|simplify|extract|inline|split|port|migrate|document|format|teach|use|"
    r"raise|reject|bug|crash(?:es)?|broken|wrong|complains?)\b|"
    r"\b(?:want|need|needs|like|have|could use)\s+an?\s+(?:(?:new|small|simple|public|private|static)\s+)*"
    r"(?:function|method|class|helper|constant|property|test|type guard|module|file|script)\b"
)
NEW_WISH = re.compile(
    r"\b(?:want|need)s? (?:an?|another|one more) (?:\w+ ){0,2}(?:helper|function|method|class|struct|test|option|flag|"
    r"parameter|argument|property|field|constant|decorator|module|command)\b"
    r"(?! (?:that|which) (?:calls?|uses?|tests?|does|is|raises?)\b)"
)
"""A wish for something new, which no question is."""
NEED = re.compile(r"\b(?:should|must|needs? to|has to|have to)\b")
PLAN = re.compile(
    r"^\W*(?:dear \w+|hi|hello|hey)?\W*(?:(?:if|when|before|once|after|since|because|as|while|in case)\b|"
    r"(?:i|we)(?:'d| would)? (?:like|want|need|plan|have|hope|am going|are going|am about|intend) to\b|"
    r"(?:i|we) (?:got|received|found|saw|see|noticed|opened|read)\b|"
    r"(?:wanna|gonna|want to|planning to|thinking of|about to)\b|"
    r"(?:i|we)(?:'m| am|'re| are|'ll| will)\b)"
)
"""A clause about what the user is going to do, which is no order."""
PURPOSE = re.compile(r"\bso that\b.*|\bbefore i\b.*|\b(?:can|could|may) be\b")
"""Parts of a clause that give no order."""
NO_TESTS = re.compile(
    r"[,(]?\s*(?:outside(?: of)?|without|except(?: for)?|excluding|ignoring|not(?: in| counting)?|no)\s+"
    r"(?:(?:the|any)\s+)?(?:unit\s+)?(?:tests?|specs?)\b\)?",
    re.IGNORECASE,
)
"""Words by which a question leaves the tests out."""
FOLDER = re.compile(
    r"\b(?:in|inside|under|within|below|of)\s+(?:the\s+)?"
    r"(?:(?:folder|directory|dir)\s+)?[`'\"]?(?P<path>(?:[\w@.-]+/)+(?:[\w@-]+)?|"
    r"(?<=folder\s)[\w@-]+|(?<=directory\s)[\w@-]+)(?=[`'\"\s?!,;:)]|\.?$)",
    re.IGNORECASE,
)
"""Matches the folder to which a question is limited."""
GLOB = re.compile(r"\(?\S*\*\S*\)?")
EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")


@dataclass(frozen=True, slots=True)
class _Cue:
    family: Family
    subject: Literal["", "name", "file", "folder", "topic"]
    pattern: re.Pattern[str]
    also: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause with NAME, FILE and FOLDER in place of the names, the files and the folder in it, and these.

    The names and files of the clauses before it count if it has none of its own.
    """

    text: str
    name: str
    file: str
    folder: str


def read_cues(prompt: str, declared: Collection[str], last: QuestionSubject | None = None) -> Question | None:
    """Return the exact question that a prompt asks by its words, or None if it asks none.

    Args:
        prompt: The prompt, with its slips corrected.
        declared: The plain words of the prompt that are names of declarations.
        last: What the question before was about.
    """
    text = GLOB.sub("", NO_TESTS.sub("", prompt))
    clauses = [*_split_clauses(text, declared, last)]
    if any(map(_is_order, clauses)):
        return None
    for clause in clauses:
        is_plan = PLAN.match(clause.text) and clause is not clauses[-1]
        asks = ASKS_FIRST.match(clause.text) or SHOW_FIRST.match(clause.text) or ASKS.search(clause.text)
        if is_plan or not asks or NO_FACT.search(clause.text):
            continue
        if question := _read_clause(clause):
            return question
    return None


def _is_order(clause: _Clause) -> bool:
    """Return whether a clause wants a change."""
    if NEW_WISH.search(clause.text):
        return True
    if PLAN.match(clause.text) or ASKS_FIRST.match(clause.text):
        return False
    text = PURPOSE.sub("", clause.text)
    return ORDER.search(text) is not None or (NEED.search(text) is not None and not SHOW_FIRST.match(text))


def _read_clause(clause: _Clause) -> Question | None:
    table = _read_table()
    topics = list(dict.fromkeys(match[0].lower() for match in table.topic.finditer(clause.text)))
    words = topics[0] if topics else ""
    for cue in table.cues:
        present = {
            "": True,
            "name": bool(clause.name),
            "file": bool(clause.file),
            "folder": bool(clause.folder),
            "topic": bool(topics),
        }
        if not present[cue.subject] or not cue.pattern.search(clause.text) or not cue.also.search(clause.text):
            continue
        # a name or a file is what the question is about, wherever it stands
        if "NAME" in clause.text and (cue.subject in ("", "topic") or cue.family == "contents"):
            continue
        if "FILE" in clause.text and cue.subject == "topic":
            continue
        if cue.subject == "file" and cue.family == "contents":
            return Question(cue.family, file=clause.file, topic=words if len(topics) == 1 else "")
        if cue.subject == "file":
            return Question(cue.family, file=clause.file)
        if cue.subject == "name":
            member_topic = words if cue.family == "members" else ""
            return Question(cue.family, clause.name, clause.file if "FILE" in clause.text else "", topic=member_topic)
        if cue.subject == "folder":
            # of several kinds, all that the folder declares
            return Question("kinds" if len(topics) == 1 else cue.family, folder=clause.folder, topic=words)
        if cue.subject == "topic":
            return Question(cue.family, topic=words)
        return Question(cue.family)
    return None


def _split_clauses(text: str, declared: Collection[str], last: QuestionSubject | None) -> Iterator[_Clause]:
    """Yield the clauses of a text. A clause without a name or a file of its own is about those before it."""
    reading = read_task(text)
    files = reading.sure_files
    names = [one for one in reading.names if not any(file.start <= one.start < file.end for file in files)]
    chosen = _choose_names(names, declared)
    name, file, start = (last.name if last else ""), (last.file if last else ""), 0
    for end in [*(match.start() for match in CLAUSE_END.finditer(text)), len(text)]:
        own_names = [one for one in chosen if start <= one.start < end]
        own_files = [one for one in files if start <= one.start < end]
        name = own_names[0].name if own_names else name
        file = own_files[0].path if own_files else file
        if last and last.name and not own_files and file == last.file and not MEANS_FILE.search(text[start:end]):
            # the declaration was the subject, and not its file
            clause_file = ""
        else:
            clause_file = file
        folder = FOLDER.search(text, start, end)
        if folder:
            own_names = [one for one in own_names if not folder.start() <= one.start < folder.end()]
            own_files = [one for one in own_files if not folder.start() <= one.start < folder.end()]
        masked = _mask(text, start, end, own_names, own_files)
        if folder:
            masked = masked.replace(folder["path"].lower(), "FOLDER", 1)
        yield _Clause(masked, name, clause_file, folder["path"].rstrip("/") if folder else "")
        start = end


def _choose_names(names: Collection[Mention], declared: Collection[str]) -> list[Mention]:
    """Return the words that are names: those that are written as only names are, or else declared plain words.

    A word that questions consist of is a name only if it is declared, and is in quotation marks or before brackets.
    """
    names = [
        one for one in names if not is_question_word(one.name) or (one.spelling >= QUOTED and one.last in declared)
    ]
    written = [one for one in names if one.spelling >= CODE or (one.last in declared and one.name[:1].isupper())]
    return written or [one for one in names if one.last in declared]


def _mask(text: str, start: int, end: int, names: Collection[Mention], files: Collection[FileMention]) -> str:
    """Return a clause in lower case, with NAME, EXCEPTION and FILE in place of names and files."""
    spans = [(one.start, one.end, "EXCEPTION NAME" if EXCEPTION.search(one.last) else "NAME") for one in names]
    spans += [(one.start, one.end, "FILE") for one in files]
    parts, place = list[str](), start
    for first, last, word in sorted(spans):
        parts += [text[place:first].lower(), word]
        place = max(place, last)
    return " ".join("".join([*parts, text[place:end].lower()]).replace("`", "").split())


@dataclass(frozen=True, slots=True)
class _CueTable:
    cues: tuple[_Cue, ...]
    topic: re.Pattern[str]


@cache
def _read_table() -> _CueTable:
    table = read_patterns()
    cues = (
        _Cue(
            cast("Family", row["family"]),
            row.get("subject", ""),
            re.compile(row["pattern"]),
            re.compile(row.get("also", "")),
        )
        for row in table["cues"]
    )
    topic = table["words"]["TOPIC"].replace("?P<topic>", "?:").replace(" ", r"\s+")
    return _CueTable(tuple(cues), re.compile(rf"\b{topic}\b"))
