"""Reads which exact question a prompt asks: by the sentences that people write most, or else by its words.

Nothing is looked up here: whether a name exists is the question of the answer.
"""

import re
from collections.abc import Collection
from dataclasses import replace

from lsp_harness.coding.questions.question import Family, Question, QuestionSubject
from lsp_harness.coding.questions.question_cues import read_cues
from lsp_harness.coding.questions.question_sentences import SHORT_WORDS, correct_words, is_question_word, read_sentence

MAX_CHARS = 300
"""A longer prompt says more than a question for a fact."""
CONTRACTION = re.compile(r"\b(what|where|who|how)s\b", re.IGNORECASE)

MEMBER_AS_FILE = re.compile(r"[A-Z]\w*\.([a-z_]\w*)$")
MEMBER_FAMILIES: dict[Family, Family] = {
    "file_commits": "declaration_commits",
    "importers": "callers",
    "imports": "callees",
    "contents": "code",
}
"""The question about a declaration that is meant where a file was read."""
HEAD = re.compile(r"\bHEAD\b(?: commit)?")
REASON = re.compile(r"(?<=\w),?\s+(?:because|in order to|so that i|so i can)\b[^,;.?!]*(?=[,;.?!]|$)", re.IGNORECASE)
"""Matches why somebody asks, behind the question."""
HOW_MUCH = re.compile(r"\bhow much\b", re.IGNORECASE)
MEMBER = r"[`'\"]?(?P<member>[a-z_]\w*)(?P<brackets>\(\))?[`'\"]?"
OWNER = r"[`'\"]?(?P<owner>[A-Z]\w+)[`'\"]?"
MEMBER_KIND = r"(?:\s+(?P<kind>method|function|constructor|property|field|attribute))?"
OWNER_KIND = r"(?:(?:the|a|class|struct|trait|interface|type|enum)\s+)*"
MEMBER_OF_OWNER = re.compile(
    rf"(?:\b(?P<before>method|function|property|field)\s+)?(?<![\w.]){MEMBER}{MEMBER_KIND}"
    rf"(?:\s+(?:which|that)\s+is)?\s+(?P<link>of|in|on|from)\s+{OWNER_KIND}{OWNER}(?![\w.(])(?:\s+(?:class|struct|trait)\b)?"
)
OWNER_OF_MEMBER = re.compile(
    rf"(?<![\w.]){OWNER}(?P<link>'s)?\s+(?:(?P<before>method)\s+)?{MEMBER}(?![\w.]){MEMBER_KIND}"
)
PARAMETER_BEFORE = re.compile(
    r"\b(?:default|value|param|parameter|arg|argument)\s+(?:of|for)?\s*(?:the\s+)?[`'\"]?$", re.IGNORECASE
)
"""Matches the words before a name that is a parameter."""


def read_question(
    prompt: str,
    declared: Collection[str] = (),
    last: QuestionSubject | None = None,
    folders: Collection[str] = (),
) -> Question | None:
    """Return the exact question that a prompt asks, or None if it asks none.

    A word with a typing slip counts as the word that is meant.

    Args:
        prompt: The prompt of the user.
        declared: The words of the prompt that are names of declarations.
        last: What the question before was about, for words such as “it”.
        folders: The words of the prompt that are names or paths of folders.
    """
    if len(prompt) > MAX_CHARS or "\n" in prompt.strip():
        return None
    text = CONTRACTION.sub(r"\1's", " ".join(prompt.replace("’", "'").split()))
    text = join_members(REASON.sub("", HOW_MUCH.sub("how many", text)), declared)
    if "HEAD" not in declared:
        text = HEAD.sub("the last commit", text)
    corrected = correct_words(text)
    question = read_sentence(text, last) or read_sentence(corrected, last)
    if question and (member := MEMBER_AS_FILE.match(question.file)) and member[1] in declared:
        # “Request.form” looks like a file
        return replace(question, family=MEMBER_FAMILIES.get(question.family, question.family), name=member[0], file="")
    if question is None or _is_unsure(question, declared):
        by_words = read_cues(corrected, declared, folders, last)
        says_more = by_words and not (question and by_words.family in ("kinds", question.family))
        return by_words if says_more or question is None else question
    return question


def _is_unsure(question: Question, declared: Collection[str]) -> bool:
    """Return whether the name of a question is a plain word that nothing declares, and perhaps no name at all."""
    name = question.name
    return not question.file and name.isalpha() and name.islower() and (name not in declared or is_question_word(name))


def join_members(text: str, declared: Collection[str]) -> str:
    """Return a text in which the members that it names beside their types are written with a dot.

    “the take method of IndexSet”, “IndexSet take()” and “IndexSet's take method” become “IndexSet.take”.
    """

    def join(match: re.Match[str]) -> str:
        member, owner = match["member"], match["owner"]
        is_marked = match["brackets"] or match["kind"] or match["before"]
        is_linked = match["link"] and ("_" in member or (member in declared and not is_question_word(member)))
        is_parameter = PARAMETER_BEFORE.search(text, 0, match.start())
        is_member = owner in declared and member not in SHORT_WORDS and (is_marked or is_linked) and not is_parameter
        return f"{owner}.{member}" if is_member else match[0]

    return OWNER_OF_MEMBER.sub(join, MEMBER_OF_OWNER.sub(join, text))
