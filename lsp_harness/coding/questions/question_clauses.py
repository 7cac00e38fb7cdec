"""Splits a prompt into clauses, with the names, files and folders in each, and tells those that ask from orders."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lsp_harness.coding.location.task_mentions import CODE, IN_FILE, QUOTED, FileMention, Mention, read_task
from lsp_harness.coding.questions.question import QuestionSubject
from lsp_harness.coding.questions.question_sentences import MEANS_FILE, is_question_word

CLAUSE_END = re.compile(
    r"(?<=[.:;!?])\s+|\s(?:so|then|hence) (?=(?:tell|show|give|list|which|what|who|where|dump|print)\b)|"
    r"[,;]\s+(?=(?:could|can|would|please|so|but|and|then|who|what|which|where|how|is|are)\b)|\s[-–]\s"
)
SENTENCE_END = re.compile(r"[.:;!?]\s")
QUESTION_WORD = (
    r"(?:who|whom|whose|which|what|whatever|what's|where|where's|who's|how (?:many|often)|since when|"
    r"when (?:did|was|were|got|has|is))"
)
ASKS_FIRST = re.compile(
    rf"\W*(?:(?:but|and|so|or|then|hi|hello|sorry)\b\W*)*(?:(?:from|in|by|to|for|at|on|with|of) (?:NAME,? |FILE,? )?)?"
    rf"(?:{QUESTION_WORD}|is|are|does|do|did|has|have|was|were|any)\b"
)
"""Words with which only questions begin."""
SHOW_FIRST = re.compile(
    r"\W*(?:(?:so|then|and|but|or|please|pls|kindly|can (?:you|u|i)|could (?:you|u)|would you(?: be so kind to)?|hi|"
    r"hello)\b\W*)*(?:name|"
    r"give(?! (?:NAME|it|the \w+|FILE) (?:an?|another|one)\b)|gimme|tell|point|find|print|read|count|walk|list|show|"
    r"display|share|enumerate|paste|dump|copy|report|run|execute|pull up|let me (?:know|see|read)|summari[sz]e|outline|"
    r"looking for|search for|i(?: would)? need|i want|i mean|need|want|everything|everyone|number of)\b"
)
COMMAND_FIRST = re.compile(
    r"\W*(?:git (?:log|show|blame|diff|status)|grep|ls|cat|pytest|ruff|mypy|pyright|eslint|tsc)\b"
    r"(?! (?:reports?|says?|complains?|fails?|finds?|gives?|shows?|prints?|rejects?|does|is|has|in|for)\b)"
)
"""Commands that people write although they mean the question which the command answers."""
NOUNS = (
    r"callers?|callees|calls|usages?|users?|uses|refs|references?|call ?sites?|fields|methods|members|attributes|attrs|"
    r"properties|props|sub ?classes|children|implementations|parameters|params|args|arguments|signature|defaults?|"
    r"return type|docs?|docstring|doc comment|documentation|help|tests|imports|importers|exceptions|errors|warnings|"
    r"findings|problems|files|functions|classes|method names|contents?|outline|base class|bases|definition|declaration|"
    r"enums|structs|traits|interfaces|routes|endpoints|settings|commands|fixtures|macros|constants|modules|"
    r"source|code|full text|lines?|history|blame|log(?! (?:which|what))|commits?|author|diff|changes|edits"
)
"""Nouns of what questions ask for. A few words about one of them ask for it."""
NOUN = re.compile(rf"\b(?:{NOUNS})\b")
MAX_NOUN_WORDS = 14
STATEMENT = re.compile(
    r"\b(?:NAME|FILE|it|this|that|they|there|he|she|the \w+)\W+(?:\w+ly |still |also |now |always )?(?:is|are|was|were|"
    r"has|have|had|does|do|did|raises?|throws?|returns?|gives?|takes?|fails?|gets?|shows?|prints?|needs?|lacks?|calls?|"
    r"uses?|misses|ignores?|accepts?|breaks?|seems?|looks?|says?)\b(?! (?:which|what|who))"
)
"""Matches a clause that tells something."""
ASKS = re.compile(
    rf"\b(?:NAME|FILE|FOLDER)\W+(?:\w+\W+){{0,2}}{QUESTION_WORD}\b|"
    rf"\b(?:know|knows|see|say|sure|idea|remember|out|check|understand|learn|list|me|us|need|want|is|are|from|by|"
    rf"with)\W+"
    rf"(?:\w+ ){{0,2}}{QUESTION_WORD}\b|\?|\b(?:please|pls|show|or not)\W*$|,\s*list(?: them| em| it| all)?\W*$|"
    r"\b(?:looking for|curious|wondering|(?:give|show|tell|point) (?:me|us)|(?:must|need to|have to|want to|want|"
    r"like to|glad to) (?:know|see|read)|can you (?:tell|list|show|say|give|find|search)|could i see|kindly)\b|"
    rf"\bneed (?:the|all) (?:{NOUNS})\b|"
    r"^\W*(?:the )?(?:last|latest|newest) commits?\W+(?:files|diff|message|date|author|changes|patch|what|which|who|"
    r"when)\b|"
    rf"^\W*(?:(?:the|all|my|NAME|FILE|NAME'?s|FILE'?s|whole|full)\b\W*)*(?:\w+ )?(?:{NOUNS})"
    r"(?:\W*$|\s+(?:of|for|in|to|by|from|on|that|only|touched|changed|NAME|FILE)\b)"
)
"""Words of a clause that asks something, and does not only tell.

A question word in the middle needs a word before it that asks, because an instruction may have one, too: “double what
load returns”.
"""
NO_FACT = re.compile(
    r"^\W*(?:why|how(?! (?:many|often|is \S+ (?:declared|documented|tested)|"
    r"(?:do|can|should|must|would) (?:i|we) (?:call|invoke))))\b(?!.*\bcomment)|"
    r"(?:/|\bor |\band )(?:how|why)\b|\b(?:returns?|gives? back)\b.*\b(?:when|if|for|unless)\b|"
    r"\bwhat (?:do|does|did) (?:NAME(?: in FILE)?|FILE|it|this|that) do\b|\bexplain\b(?!.*\b(?:docstring|documentation|"
    r"doc comment))|\bwhat\b.*\bmeans?\b(?! its)|\bmeaning of\b|"
    r"\bhappens?\b|\b(?:NAME|it|this|that|code) works?\b|\b(?:problem (?:when|if)|situations?|safe|difference|(?:not|"
    r"n't) understand)\b|"
    r"\bwould (?:it be (?:a|ok)|one)\b|\b(?:where|who) should\b|\bwhere (?:do|can|to|could) (?:i |we )?(?:put|add|"
    r"place)\b"
)
"""Questions that no exact answer answers."""
ORDER = re.compile(
    r"\b(?:add|fix|repair|mend|make(?! me (?:a |the )?(?:list|overview|table))|"
    r"let(?! (?:me|us) (?:see|know|read|look))|correct|write|create|implement|refactor|rewrite|rename|remove|delete|"
    r"replace|"
    r"convert|generate|move|change|update|improve|optimi[sz]e|simplify|extract|inline|split|port|migrate|document|"
    r"format|"
    r"teach|(?<!who )use|put|push|commit (?:my|all|the|these|this|it|everything)|undo|revert|reset|squash|amend|"
    r"(?<!every )(?<!each )raise|reject|bug|crash(?:es)?|broken|wrong|complains?)\b|"
    r"\b(?:want|need|needs|like|have|could use)\s+an?\s+(?:(?:new|small|simple|public|private|static)\s+)*"
    r"(?:function|method|class|helper|constant|property|test|type guard|module|file|script)\b"
)
TELL_ME = re.compile(
    r"\W*(?:(?:please|pls|kindly|and|so|can you|could you|would you)\b\W*)*"
    rf"(?:(?:tell|show) (?:me|us)|(?:i'd|i would) (?:like|love) to know|i want to know|"
    rf"i wonder)\b.{{0,20}}?\b{QUESTION_WORD}\b"
)
"""Matches the beginning of a clause that politely asks."""
HOW_TO = re.compile(r"\W*(?:\w+ )?how (?:do|can|should|must|would|to)\b")
NEW_WISH = re.compile(
    r"^\W*(?:(?:please|pls|an?|short)\s+)*(?:docstring|doc comment|jsdoc|rustdoc)s? for\b(?! (?:\w+ ){0,2}(?:NAME|"
    r"FILE)\W*$)|\bgive (?:NAME|it|the \w+|FILE|(?!me\b|us\b)\w+)(?: (?:in|of) (?:NAME|FILE))? (?:an?|another|one)\b|"
    r"\bget\b.*\b(?:to pass|pass again|green|working)\b|"
    r"\b(?:want|need)s? (?:an?|another|one more) (?:\w+ ){0,2}(?:helper|function|method|class|struct|test|option|flag|"
    r"parameter|argument|property|field|constant|decorator|module|command)\b"
    r"(?! (?:that|which) (?:calls?|uses?|tests?|does|is|raises?)\b)"
)
"""A wish for something new, which no question is."""
NEED = re.compile(
    r"\b(?:should|must|needs? to|has to|have to)\b(?! (?:know|see|read|understand|find|check|review|list|test)\b)"
)
ORDER_FIRST = re.compile(rf"(?:{ORDER.pattern})\s+\w")
VERB_FIRST = re.compile(rf"{ORDER_FIRST.pattern}|\w+\s+(?:{QUESTION_WORD})\s")
BEFORE_ORDER = re.compile(
    r"(?:\b(?:can|could|would|will) (?:you|u|we)|\b(?:please|pls|and|then|also|to|just|let's))\s+"
    r"(?:please |also |just )*$"
)
"""Matches the words before a verb that orders."""
PLAN = re.compile(
    r"^\W*(?:dear \w+|hi|hello|hey)?\W*(?:(?:if|when|before|once|after|since|because|as|while|in case)\b|"
    r"(?:i|we)(?:'d| would)? (?:like|want|need|plan|have|hope|am going|are going|am about|intend) to\b|"
    r"(?:i|we) (?:got|received|found|saw|see|noticed|opened|read)\b|"
    r"(?:wanna|gonna|want to|need to|have to|planning to|thinking of|about to)\b|"
    r"(?:i|we)(?:'m| am|'re| are|'ll| will)\b|for \w+ing\b|(?:i|we) (?:must|think)\b)"
)
"""A clause about what the user is going to do, which is no order."""
PURPOSE = re.compile(
    r"\bso that\b.*|\bbefore i\b.*|\b(?:can|could|may) be\b|\bit(?:'s| is) for\b.*|\b(?:a|the|my|this|last|"
    r"latest) change\b"
)
"""Parts of a clause that give no order."""
FOLDER = re.compile(
    r"\b(?:in|inside|under|within|below|of)\s+(?:the\s+)?"
    r"(?:(?:folder|directory|dir)\s+)?[`'\"]?(?P<path>(?:[\w@.-]+/)+(?:[\w@-]+)?|"
    r"(?<=folder\s)[\w@-]+|(?<=directory\s)[\w@-]+)(?=[`'\"\s?!,;:)]|\.?$)",
    re.IGNORECASE,
)
"""Matches the folder to which a question is limited."""
EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause with NAME, FILE and FOLDER in place of the names, the files and the folder in it, and these.

    The names and files of the clauses before it count if it has none of its own.
    """

    text: str
    name: str
    file: str
    folder: str
    has_sure_name: bool = False
    """True if one of the names in the clause is written as only names are."""
    lines: str = ""
    """The lines of the file that the clause names, such as `79-90`."""

    @property
    def is_plan(self) -> bool:
        """True if the clause tells what its user is going to do."""
        return PLAN.match(self.text) is not None

    @property
    def plans_change(self) -> bool:
        """True if the clause tells of a change that its user is going to make."""
        return self.is_plan and ORDER.search(PURPOSE.sub("", self.text)) is not None

    @property
    def is_open(self) -> bool:
        """True if the clause asks what no exact answer answers."""
        return NO_FACT.search(self.text) is not None

    @property
    def asks(self) -> bool:
        """True if the clause asks something, and does not only tell."""
        text = self.text
        if any((ASKS_FIRST.match(text), SHOW_FIRST.match(text), COMMAND_FIRST.match(text), ASKS.search(text))):
            return True
        is_short = len(text.split()) <= MAX_NOUN_WORDS
        return is_short and NOUN.search(text) is not None and not STATEMENT.search(text)

    @property
    def is_order(self) -> bool:
        """True if the clause wants a change."""
        if NEW_WISH.search(self.text):
            return True
        if self.is_plan or any(form.match(self.text) for form in (ASKS_FIRST, HOW_TO, TELL_ME)):
            return False
        text = PURPOSE.sub("", self.text)
        return ORDER.search(text) is not None or (NEED.search(text) is not None and not SHOW_FIRST.match(text))


def split_clauses(
    text: str, declared: Collection[str], folders: Collection[str], last: QuestionSubject | None, is_whole: bool = False
) -> Iterator[Clause]:
    """Yield the clauses of a text. A clause without a name or a file of its own is about those before it.

    With `is_whole` the whole text is one clause.
    """
    reading = read_task(text)
    files = reading.sure_files
    names = [one for one in reading.names if not any(file.start <= one.start < file.end for file in files)]
    chosen = _choose_names(names, declared, text)
    name, file, start = (last.name if last else ""), (last.file if last else ""), 0
    ends = [] if is_whole else [match.start() for match in CLAUSE_END.finditer(text)]
    for end in [*ends, len(text)]:
        folder = _find_folder(text, start, end, folders)
        span = folder.span() if folder else (end, end)
        verb = SHOW_FIRST.match(text[start:end].lower())
        first = start + verb.end() if verb else start
        own_names = [one for one in chosen if first <= one.start < end and not span[0] <= one.start < span[1]]
        own_names = [
            one for one in own_names if one.spelling >= CODE or not _is_verb(text[start : one.start], text[one.start :])
        ]
        own_files = [one for one in files if start <= one.start < end and not span[0] <= one.start < span[1]]
        # “the default of max_age in SessionMiddleware” is about the class
        named = [one for one in own_names if one.last in declared] or own_names
        name = named[0].name if named else name
        file = own_files[0].path if own_files else file
        if last and last.name and not own_files and file == last.file and not MEANS_FILE.search(text[start:end]):
            # the declaration was the subject, and not its file
            clause_file = ""
        else:
            clause_file = file
        masked = _mask(text, start, end, own_names, own_files)
        if folder:
            masked = masked.replace(folder["path"].lower(), "FOLDER", 1)
        is_sure = any(one.spelling >= CODE or one.last[:1].isupper() for one in own_names)
        place = next((one for one in own_files if one.first), None)
        lines = f"{place.first}-{place.last}" if place else ""
        yield Clause(masked, name, clause_file, folder["path"].rstrip("/") if folder else "", is_sure, lines)
        start = end


def _is_verb(before: str, text: str) -> bool:
    """Return whether a text begins with a verb that is the name of a declaration, too, judged by the text before."""
    if not before.strip():
        return VERB_FIRST.match(text.lower()) is not None
    return BEFORE_ORDER.search(before.lower()) is not None and ORDER_FIRST.match(text.lower()) is not None


def _find_folder(text: str, start: int, end: int, folders: Collection[str]) -> re.Match[str] | None:
    """Return the folder of a clause: a path behind a word such as “in”, or the name of a folder that there is."""
    if folders:
        names = "|".join(map(re.escape, sorted(folders, key=len, reverse=True)))
        before = (
            r"(?:\b(?:in|inside|under|within|below|of|from|has|have|folder|directory|dir|ls)\s+(?:the\s+|our\s+|"
            r"all\s+)*|^)"
        )
        behind = r"/?(?:(?=[`'\"\s?!,;:)]|\.?$))"
        for pattern in (
            rf"(?<![\w./])(?P<path>{names})/?[`'\"]?\s+(?:folder|directory|dir)\b",
            rf"{before}[`'\"]?(?P<path>{names}){behind}",
        ):
            if found := re.compile(pattern, re.IGNORECASE).search(text, start, end):
                return found
    return FOLDER.search(text, start, end)


def _choose_names(names: Collection[Mention], declared: Collection[str], text: str) -> list[Mention]:
    """Return the words that are names: those that are written as only names are, or else declared plain words.

    A word that questions consist of is a name only if it is declared, and is in quotation marks, before brackets,
    or first and before its file.
    """
    names = [
        one
        for one in names
        if not is_question_word(one.name)
        or (one.last in declared and (one.spelling >= QUOTED or (one.start == 0 and IN_FILE.match(text, one.end))))
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
