"""Reads what a prompt asks if it is none of the known sentences, by its words: who, calls, tests, raises and so on.

The names and the files in the prompt are known first. Then the first cue of `question_patterns.toml` counts that is
found in a clause which asks something. A prompt with a clause that orders a change is a task, and no question.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from lsp_harness.coding.questions.question import Family, Question, QuestionSubject, read_patterns
from lsp_harness.coding.questions.question_clauses import SENTENCE_END, Clause, split_clauses
from lsp_harness.coding.questions.question_forms import GETS_MORE

SHOWS = re.compile(r"\b(?:show|see|print|read|give|gimme|dump|cat|paste|display|what(?:'s| is) (?:in|at|on))\b")
"""Words of a clause that wants to see lines."""
MAX_LINE = 10**6
"""A line behind the end of each file."""
NO_TESTS = re.compile(
    r"[,(]?\s*(?:outside(?: of)?|without|except(?: for)?|excluding|ignoring|not(?: in| counting)?|no)\s+"
    r"(?:(?:the|any)\s+)?(?:unit\s+)?(?:tests?|specs?)\b\)?",
    re.IGNORECASE,
)
"""Words by which a question leaves the tests out."""
ENDING = re.compile(r"(?<!\S)`?\*?(?P<ending>\.\w+(?:\.\w+)*)`?(?=\s+files?\b)", re.IGNORECASE)
"""Matches the ending of files of which somebody asks: `.test.ts files`, `*.md files`."""
GLOB = re.compile(r"\(?\S*\*\S*\)?")


@dataclass(frozen=True, slots=True)
class _Cue:
    family: Family
    subject: Literal["", "name", "file", "folder", "topic"]
    pattern: re.Pattern[str]
    also: re.Pattern[str]


def read_cues(
    prompt: str, declared: Collection[str], folders: Collection[str] = (), last: QuestionSubject | None = None
) -> Question | None:
    """Return the exact question that a prompt asks by its words, or None if it asks none.

    Args:
        prompt: The prompt, with its slips corrected.
        declared: The plain words of the prompt that are names of declarations.
        folders: The words of the prompt that are names or paths of folders.
        last: What the question before was about.
    """
    if GETS_MORE.search(prompt):
        return None
    text = NO_TESTS.sub("", prompt)
    ending = ENDING.search(text)
    text = GLOB.sub("", ENDING.sub("", text))
    clauses = [*split_clauses(text, declared, folders, last)]
    if any(clause.is_order for clause in clauses):
        return None
    wholes = [*split_clauses(text, declared, folders, last, is_whole=True)]
    # the name may be in one clause, and what is asked in another one: “Foo.bar, is it documented? show me”
    is_one_sentence = not SENTENCE_END.search(text) and not any(clause.is_plan for clause in clauses)
    readings = [*wholes, *clauses] if is_one_sentence else [*clauses, *wholes]
    for clause in readings:
        if clause in wholes:
            asks = any(one.asks for one in [clause, *clauses])
            is_exact = asks and not any(one.is_open or one.plans_change for one in clauses)
        else:
            tells = clause.plans_change or (clause.is_plan and clause is not clauses[-1])
            is_exact = clause.asks and not clause.is_open and not tells
        if not is_exact:
            continue
        if question := _read_clause(clause):
            if ending and question.family in ("kinds", "contents"):
                return Question("kinds", folder=question.folder, topic=f"{ending['ending']} files")
            return question
    return None


def _read_clause(clause: Clause) -> Question | None:
    if clause.lines and SHOWS.search(clause.text):
        return Question("code", file=clause.file, topic=clause.lines)
    table = _read_table()
    topics = list(dict.fromkeys(match[0].lower() for match in table.topic.finditer(clause.text)))
    if clause.file or len(topics) > 1:
        # “the enums of the file” are no files
        topics = [topic for topic in topics if topic not in ("file", "module")]
    words = topics[0] if topics else ""
    present = {
        "": True,
        "name": bool(clause.name),
        "file": bool(clause.file),
        "folder": bool(clause.folder),
        "topic": bool(topics),
    }
    for cue in table.cues:
        if not present[cue.subject] or not cue.pattern.search(clause.text) or not cue.also.search(clause.text):
            continue
        # a name or a file is what the question is about, wherever it stands
        is_about_name = "NAME" in clause.text and (clause.has_sure_name or cue.subject != "topic")
        if is_about_name and (cue.subject in ("", "topic") or cue.family == "contents"):
            continue
        if "FILE" in clause.text and cue.subject == "topic":
            continue
        if cue.subject == "file" and cue.family == "contents":
            return Question(cue.family, file=clause.file, topic=words if len(topics) == 1 else "")
        if cue.subject == "file":
            return Question(
                cue.family, file=clause.file, topic=_read_lines(clause.text) if cue.family == "code" else ""
            )
        if cue.subject == "name":
            member_topic = words if cue.family == "members" else ""
            return Question(cue.family, clause.name, clause.file if "FILE" in clause.text else "", topic=member_topic)
        if cue.subject == "folder":
            # of several kinds, all that the folder declares
            family = "kinds" if len(topics) == 1 and cue.family == "contents" else cue.family
            return Question(family, folder=clause.folder, topic=words if family == "kinds" else "")
        if cue.subject == "topic":
            return Question(cue.family, topic=words)
        return Question(cue.family)
    return None


def _read_lines(text: str) -> str:
    """Return the lines of a file that a clause names, such as `100-140`. Empty for all of them."""
    if first := re.search(r"\b(?:first|top) (\d+)", text):
        return f"1-{first[1]}"
    match = re.search(r"\blines? (\d+)(?:\W+(?:to |and |until |till )?(the end|end|\d+))?", text)
    if match is None:
        return ""
    last = match[2] or match[1]
    return f"{match[1]}-{last if last.isdigit() else MAX_LINE}"


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
