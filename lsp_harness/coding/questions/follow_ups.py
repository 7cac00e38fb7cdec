"""Follow-ups: prompts that are about what the session did last, such as “also the docstring” or “no, in utils.py”.

A follow-up is written anew as a prompt that says all by itself, so that everything behind it needs no memory.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from lsp_harness.coding.location.task_mentions import CODE, PLAIN, Mention, is_surely_file, read_task
from lsp_harness.coding.questions.question_sentences import is_question_word
from lsp_harness.kernel.projections.code_progress import LastWork

FollowUpKind = Literal["undo", "undo_all", "correction", "retry", "same", "go_on"]
EDITS = frozenset({"edit", "fix", "generate"})
"""The intents of prompts that change code."""
MAX_CHARS = 300
LEAD = (
    r"(?:(?:please|pls|ok(?:ay)?|nah|no|nope|(?:can|could|would) you|i (?:don't|dont|do not) like (?:it|that|this)|"
    r"not good|now|and|also|then|next|but|hm+|well|sorry|oh|great|thanks|good|fine|nice)\b[\s,.!:-]*)*"
)
TAIL = r"[\s.!?]*(?:please|pls|thanks|instead|too|as well|now)?[\s.!?]*\Z"
LAST_EDIT = (
    r"(?:the|that|this|your|my|its) (?:(?:last|latest|previous|whole|new) )*(?:change|edit|one|thing|rename|"
    r"renaming|test|unit test|"
    r"docstring|comment|fix|type hint|annotation|function|method|class|refactoring|addition|deletion|move|import)s?"
)
OBJECT = rf"(?:(?:that|this)(?: one)?|it|them|{LAST_EDIT})"
EVERYTHING = (
    r"(?:all|everything|it all|all of (?:it|them|that|this)|all (?:of )?(?:the |my |your |our |these |those "
    r")?(?:changes|edits)|"
    r"the whole (?:thing|lot)|both)"
)
REASON = (
    r"(?:\s*(?:[,;.:–-]\s*|\bbecause\b)(?:it|that|this|was|is|were|i|we|it's|sorry|not|just|only|please|"
    r"thanks|like|as|back|so)\b.*)?"
)
"""The reason behind an undo, which gives no order."""
NOUN = r"(?:function|method|class|file|module|struct|type|place|one)"


def _compile(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


DROPPED = (
    r"(?:(?:forget|drop|cancel|stop|leave) (?:it|that|this)|never ?mind|"
    r"(?:i )?(?:don'?t|do not|no longer) (?:need|want) (?:it|that|this)(?: after all| any ?more| now)?)"
)
UNDO_VERB = r"(?:undo|revert|roll ?back|discard|reset|take back|cancel)"
UNDO = _compile(
    LEAD,
    rf"(?:{DROPPED}[\s,.:;!–-]*(?:and |please )*)?(?:{UNDO_VERB}|",
    rf"(?:take|roll|put|change|set|bring) {OBJECT} back(?: (?:how|as|to how|the way|like) it was)?(?: before)?|",
    rf"(?:delete|remove) {OBJECT} again|restore (?:it|that|this|the (?:old|original|previous) (?:code|version|one|"
    rf"state))|",
    r"(?:make|leave) it (?:as|like|how) it was(?: before)?|go back(?: please| again)?|(?:go )?back to (?:how|the way|"
    r"what) it was(?: before)?)",
    rf"(?:\s+{OBJECT})?",
    REASON,
    TAIL,
)
UNDO_CLAUSE_END = re.compile(r"[.,;:!?–-]\s+(?:so |and |please |pls )*", re.IGNORECASE)
UNDO_ALL = _compile(
    LEAD,
    rf"(?:{DROPPED}[\s,.:;!–-]*(?:and |please )*)?(?:{UNDO_VERB} {EVERYTHING}|(?:take|roll|put) {EVERYTHING} back)",
    r"(?:\s*[,;.:–-].*)?",
    TAIL,
)
REFUSAL = _compile(
    r"(?:oh\s+)?(?:(?:no+|nope)(?=\s*[,.;:!–-]|\s+(?:in|the|not|i|it|that|use|\d)\b)|",
    rf"not (?:that|this|there|in there|the right)(?: {NOUN})?|",
    rf"(?:(?:that|this|it)(?: is| was|'s) )?(?:the )?wrong(?: {NOUN})?|",
    r"(?:that is|that's) not (?:it|right|what i (?:meant|wanted))|i (?:mean|meant)|actually)\b[\s,.:;!–-]*",
)
CORRECTED = _compile(
    r"(?:(?:i (?:mean|meant|want|wanted)|it(?:'s| is)|it should be|use|take|do (?:it|that|this)|put it|change|edit|",
    r"try|look|please|rather|but|instead|the one|that one|that|the)\b[\s,]*)*",
)
PATH = r"[`'\"]?[\w./:@+~-]+[`'\"]?"
PLACE = _compile(
    rf"(?:(?:in|inside|into|under|at|of|from|for|to)\s+)?(?:(?:the|a)\s+)?{NOUN}?\s*",
    rf"(?P<place>[`'\"“]?[\w./:#@$+~-]+[`'\"”]?(?:\(\))?(?:\s+(?:in|of|from)\s+{PATH})?)(?:\s+{NOUN})?",
    TAIL,
)
IN_FILE = _compile(LEAD, r"(?:in|inside)\s+(?P<place>[`'\"]?[\w./:@+~-]+\.\w+(?::\d+)?[`'\"]?)", TAIL)
ORDINALS = {"1": 0, "first": 0, "2": 1, "second": 1, "2nd": 1, "other": 1, "next": 1, "3": 2, "third": 2, "3rd": 2}
ORDINAL = _compile(
    LEAD, rf"(?:the\s+|take\s+|number\s+|#)*(?P<number>{'|'.join(ORDINALS)})(?:\s+(?:one|place|candidate))?", TAIL
)
COMPARATIVE = r"(?:(?:much |a bit |even )?(?:shorter|simpler|clearer|cleaner|smaller|longer)\b)"
RETRY = _compile(
    LEAD,
    r"(?:(?:try|do) (?:it |that |this )?(?:again|once more|differently|another way)|(?:retry|redo|again|once more)|",
    rf"(?:try|do) (?:it|that|this)(?= (?:with|without|using|by)\b)|make it (?={COMPARATIVE})|(?={COMPARATIVE})|",
    r"(?:another|a different) (?:try|one|way|version|solution)|try something else|(?:something|anything) else)\b",
    r"[\s,.:;–-]*(?P<wish>.*)",
)
WITHOUT = _compile(
    LEAD,
    r"(?:but|and|this time|same)?[\s,]*",
    r"(?P<wish>(?:without|don't|do not|keep (?:the|its)|leave (?:the|out)|no new)\b.*)",
)
SAME = _compile(
    LEAD,
    r"(?:(?:do |make |apply )?(?:exactly )?(?:the )?same(?: thing| change| edit)?|likewise|ditto|",
    r"do (?:it|that|this))\s+(?:for|in|to|with|on|at)\s+(?P<rest>.+?)",
    TAIL,
)
TOO = _compile(
    LEAD,
    r"(?P<rest>\S+(?:\s+in\s+\S+)?)\s+(?:(?:needs?|wants?|gets?|should (?:get|have)|has to have)\s+(?:one|it|this|that|"
    r"the same)\s+)?",
    r"(?:too|as well|also)[\s.!]*\Z",
)
ABOUT = _compile(
    LEAD,
    r"(?:(?:and|so|or)\s+(?:what|how)\s+about|what\s+about|how\s+about|and\s+(?:of|for|in)?)\s*",
    r"(?P<rest>\S+(?:\s+in\s+(?!(?:there|here|the|this|that)\b)\S+)?)(?:\s+(?:in|from)\s+(?:the\s+same|this|that)\s+\w+|\s+there|\s+here)?",
    r"[\s?.!]*\Z",
)
EXTRA = _compile(
    LEAD,
    r"(?:(?:write|add|generate|give (?:me|it)|create|update|do|make|fix)\s+)?",
    r"(?:(?:the|a|an|some|its|unit|new|more|missing)\s+)*(?P<extra>tests?|unit tests?|docstrings?|docs|documentation|",
    r"doc comments?|type hints?|types|annotations|comments?)(?:\s+(?:for|to|of)\s+(?:it|that|this))?",
    TAIL,
)
EXTRAS = (
    ("test", "write tests for {subject}"),
    ("doc", "write a docstring for {subject}"),
    ("type", "add type hints to {subject}"),
    ("annotation", "add type hints to {subject}"),
    ("comment", "add comments to {subject}"),
)
"""The beginning of the word for what else is wanted, and the prompt for it."""
EXTRA_QUESTIONS = (("test", "which tests run {subject}?"), ("doc", "what is the documentation of {subject}?"))
"""The beginning of the word for what is wanted behind a question, and the question for it."""
ORDER = _compile(
    LEAD,
    r"(?:add|use|handle|return|raise|remove|log|keep|let|replace|simplify|make it|it (?:should|must)|put|print|cache|",
    r"sort)\b",
)
NAME = r"[^\W\d]\w*"
RENAME = _compile(rf"\brename\b.*\b(?:to|into|as|in)\s+[`'\"]?(?P<new>{NAME})[`'\"]?")
"""Matches a task that renames something."""
OTHER_NAME = _compile(
    LEAD,
    r"(?P<verbs>(?:(?:rather|better|maybe|perhaps|let'?s|let us|i'd|i would|we|i|make|should|be|prefer|call|name|"
    r"rename|use|take|try|it|",
    r"that|this|called|named|to|into|as|say|with|the|new|name|one)\b[\s,:]*)*)",
    rf"[`'\"]?(?P<name>{NAME})[`'\"]?",
    r"(?P<end>(?:\s+(?:is|would be|sounds|looks) (?:a )?(?:much )?(?:better|nicer|clearer|fine|good)\b.*|",
    r"\s*(?:instead|rather|better|then|please|pls)\b)*)[\s.!?]*\Z",
)
"""Another name for what was renamed: “better _drop”, “call it drop instead”."""
NO_NEW_NAMES = frozenset({"it", "that", "this", "one", "again", "back", "same", "name", "something", "else", "way"})
VALUE = r"(?:-?\d[\w.]*|\"[^\"]*\"|'[^']*'|true|false|none|null)"
OTHER_VALUE = _compile(
    LEAD,
    r"(?:(?:no+|nope|better|rather|maybe)\b[\s,]*)*(?:(?:make|set|change|let|put|use|take|try)\s+)?(?:(?:it|that|"
    r"this|the value)\s+)?",
    rf"(?:(?:be|to|into|rather|better|=)\s+)*(?P<value>{VALUE})",
    TAIL,
)
"""Another value for the one that was set: “make that 75”."""
ONE_FOR = _compile(
    LEAD,
    r"(?:(?:write|add|do|make)\s+)?(?:(?:a|an)\s+)?(?:another |new )?(?:one|test|unit test)(?: more)? (?:for|of|"
    r"about)\s+",
    rf"(?P<rest>[`'\"]?{NAME}(?:(?:\.|::){NAME})*[`'\"]?(?:\(\))?(?:\s+in\s+\S+?)?)(?:\s*[,:;]\s*(?P<wish>.+))?",
    TAIL,
)
"""One more of what was written last: “now one for indent, an empty string”."""
WORK = (
    r"(?:add|write|fix|remove|delete|create|rename|move|make|change|update|document|let|convert|refactor|"
    r"simplify|replace)"
)
TWO_REQUESTS = _compile(
    rf"(?P<first>(?:please )?{WORK}\b.*?)\s*(?:[,;.]\s*|\b)(?:and then|and also|and|then|also)\s+(?P<second>{WORK}\b.*)"
)
ALSO_IN = _compile(
    r"(?:(?:and|also|please|now)\b[\s,]*)+(?P<where>in (?:the|its) (?:docstring|doc comment|documentation|"
    r"comments?|docs|signature|",
    r"error message|message|tests?))",
    TAIL,
)
"""Matches a wish for the last change in another part of the last place."""
MAX_ORDER_WORDS = 9
"""A longer order may be about something else than the last place."""
NEW_THING = _compile(r"\b(?:new|file|module|script|class|package|folder|project|command|readme|changelog)\b")
POSSESSIVE = _compile(r"\bits\b(?=\s+\w)")
CLAUSE_END = r"\s*(?:[,.;?!]|\Z|(?:too|as well|instead|please|now)\b)"
PRONOUN = _compile(
    r"\b(?:it|(?:this|that|the same) (?:function|method|class|file|code|one|module)|",
    r"the (?:function|method|class)(?=\s*(?:[,.;?!]|\Z|(?:should|must|also|needs|to|and|so|is|has|does|with)\b))|",
    rf"(?:this|that|there)(?={CLAUSE_END}))(?!['’]s\b)\b",
)
HESITATION = _compile(r"\A(?:(?:hm+|uh+|um+|er+|ah+|oh+)\b[\s,.:!…-]*)+")
CONNECTED = _compile(r"(?:and|also|now|then|next|but|oh|plus|or rather|additionally)\b[\s,:]*")
ADDED = _compile(r"\b(?:too|as well|instead|again)[\s.!?]*\Z")
AS_MEANS = _compile(
    r"\b(?:raises?|throws?|uses?|using|with|without|returns?|instead of|and not)\s+(?:an?\s+|the\s+)?[`'\"]?\Z"
)
"""Text before the name of something that the code shall use, and that is not to be changed."""
FILE_IN_TASK = _compile(
    r"\s*\b(?:in|inside|of)\s+(?:(?:the\s+)?file\s+)?[`'\"]?[\w./@+~-]+\.\w+(?::\d+(?:-\d+)?)?[`'\"]?"
)
QUESTION_END = re.compile(r"[\s?.!]+\Z")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up, written anew.

    Attributes:
        kind: How the prompt goes on: it takes the last edit back (`undo`), says another place (`correction`), wants
            another result (`retry`), the same elsewhere (`same`), or more at the last place (`go_on`).
        task: The prompt that says all by itself. It is empty for `undo`.
        place: The words that say the place, or an empty text if the task says it.
        rest: A second request of the prompt, which is not done. It may be empty.
    """

    kind: FollowUpKind
    task: str = ""
    place: str = ""
    rest: str = ""

    @property
    def replaces_edit(self) -> bool:
        """True if the last edit is wrong, so that it is undone first."""
        return self.kind in ("correction", "retry")


def read_follow_up(prompt: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    """Return the follow-up that a prompt is by its form, or None.

    Args:
        prompt: The prompt of the user.
        last: What the session did last.
        declared: The words of the prompt that are names of declarations.
    """
    text = _join(prompt)
    if not last.task or len(prompt) > MAX_CHARS:
        return None
    for read in READERS:
        if found := read(text, last, declared):
            return found
    return None


def continue_at_last_place(prompt: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    """Return a prompt that goes on at the last place without its name, or None if it names something of its own.

    Args:
        prompt: The prompt of the user, which is none of the other follow-ups.
        last: What the session did last.
        declared: The words of the prompt that are names of declarations.
    """
    text, subject = HESITATION.sub("", _join(prompt)), describe_subject(last)
    if not subject or len(prompt) > MAX_CHARS or names_subject(text, declared):
        return None
    rest = CONNECTED.sub("", text, count=1) if CONNECTED.match(text) else text
    replaced = POSSESSIVE.sub("the", rest, count=1)
    if replaced != rest:
        noun = re.match(r"(.*?\bthe\s+\w+)(.*)", replaced, re.IGNORECASE | re.DOTALL)
        return FollowUp("go_on", f"{noun[1]} of {subject}{noun[2]}" if noun else replaced)
    if PRONOUN.search(rest):
        # only the first one: what follows speaks of the same
        return FollowUp("go_on", PRONOUN.sub(lambda match: subject, rest, count=1))
    is_short_order = ORDER.match(text) and len(text.split()) <= MAX_ORDER_WORDS and not NEW_THING.search(text)
    if rest != text or ADDED.search(text) or is_short_order:
        return FollowUp("go_on", f"{QUESTION_END.sub('', rest)} in {subject}")
    return None


def read_second_request(prompt: str, declared: Collection[str]) -> FollowUp | None:
    """Return the first one of two requests that are about different code, one of them a rename, or None.

    Args:
        prompt: The prompt of the user.
        declared: The words of the prompt that are names of declarations.
    """
    text = _join(prompt)
    match = TWO_REQUESTS.fullmatch(text)
    if match is None or len(prompt) > MAX_CHARS or not re.search(r"\brename\b", text, re.IGNORECASE):
        return None
    first, second = ({one.last for one in read_task(match[key]).names} & set(declared) for key in ("first", "second"))
    if not first or not second or first & second:
        return None
    return FollowUp("go_on", match["first"], rest=match["second"])


def describe_subject(last: LastWork) -> str:
    """Return the last place in words that a prompt can have, or an empty text if there is none."""
    if last.symbol:
        return f"`{last.symbol}` in {last.path}"
    return f"{last.path}:{last.first}-{last.last}" if last.path and last.first < last.last else last.path


def names_subject(text: str, declared: Collection[str]) -> bool:
    """Return whether a prompt names a file, or a declaration as only names are written."""
    reading = read_task(text)
    names = [one for one in reading.names if not (one.is_new or AS_MEANS.search(text[: one.start]))]
    return bool(reading.sure_files) or any(_is_name(one, declared) for one in names)


def _is_name(mention: Mention, declared: Collection[str]) -> bool:
    """Return whether a word names something: it is written as names are, or is a declared word with a capital."""
    if mention.spelling >= CODE:
        return True
    return mention.last in declared and mention.spelling > PLAIN and not is_question_word(mention.name)


def _join(prompt: str) -> str:
    return " ".join(prompt.replace("’", "'").split())


# -- the forms


def _read_undo(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    if UNDO_ALL.fullmatch(text):
        return FollowUp("undo_all")
    if UNDO.fullmatch(text):
        return FollowUp("undo")
    # “ok they would break, go back”: what is said before is the reason
    *reasons, end = UNDO_CLAUSE_END.split(text)
    is_reason = bool(reasons) and last.is_applied and not any(ORDER.match(reason) for reason in reasons)
    return FollowUp("undo") if is_reason and UNDO.fullmatch(end) else None


def _read_other_name(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    renamed, match = RENAME.search(last.task), OTHER_NAME.fullmatch(text)
    if renamed is None or match is None or last.intent == "question":
        return None
    name = match["name"]
    has_form = match["verbs"] or match["end"].strip() or (REFUSAL.match(text) and name not in declared)
    if not has_form or name.lower() in NO_NEW_NAMES:
        return None
    return FollowUp("retry", f"{last.task[: renamed.start('new')]}{name}{last.task[renamed.end('new') :]}")


def _read_other_value(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    match = OTHER_VALUE.fullmatch(text)
    if match is None or last.intent not in EDITS:
        return None
    is_number = match["value"].lstrip("-")[:1].isdigit()
    values = [
        one
        for one in re.finditer(rf"(?<![\w./:-]){VALUE}(?![\w/:])", last.task, re.IGNORECASE)
        if one[0].lstrip("-")[:1].isdigit() is is_number
    ]
    subject = describe_subject(last)
    if len(values) != 1:
        return FollowUp("retry", f"{QUESTION_END.sub('', last.task)}, {QUESTION_END.sub('', text)}", subject)
    return FollowUp("same", f"{last.task[: values[0].start()]}{match['value']}{last.task[values[0].end() :]}", subject)


def _read_one_for(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    match = ONE_FOR.fullmatch(text)
    if match is None or last.intent not in EDITS or not re.search(r"\btests?\b", last.task, re.IGNORECASE):
        return None
    word = match["rest"].split()[0].strip("`'\"()")
    if re.split(r"\.|::", word)[-1] not in declared:
        return None
    place = match["rest"] if " in " in match["rest"] or not last.path else f"`{word}` in {last.path}"
    wish = f": {QUESTION_END.sub('', match['wish'])}" if match["wish"] else ""
    return FollowUp("same", f"write a test for {place}{wish}", place)


def _read_also_in(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    match, subject = ALSO_IN.fullmatch(text), describe_subject(last)
    if match is None or not subject or last.intent not in EDITS:
        return None
    return FollowUp("same", f"{QUESTION_END.sub('', last.task)}, also {match['where']}", subject)


def _read_ordinal(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    refusal = REFUSAL.match(text)
    match = ORDINAL.fullmatch(text[refusal.end() :] if refusal else text)
    if match is None or not last.others:
        return None
    places = ["", *last.others]
    number = ORDINALS[match["number"].lower()]
    return FollowUp("correction", last.task, places[number]) if 0 < number < len(places) else None


def _read_correction(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    if match := IN_FILE.fullmatch(text):
        return _correct(match["place"], last)
    refusal = REFUSAL.match(text)
    if refusal is None:
        return None
    start = CORRECTED.match(text, refusal.end())
    rest = text[start.end() if start else refusal.end() :]
    place = PLACE.fullmatch(rest)
    if place and (names_subject(rest, declared) or place["place"].strip("`'\"()") in declared):
        return _correct(place["place"], last)
    rest = text[refusal.end() :]
    # another instruction for the same place
    subject = describe_subject(last)
    if rest and subject and not names_subject(rest, declared):
        task = PRONOUN.sub(lambda match: subject, rest, count=1)
        if task != rest:
            return FollowUp("retry", task)
        return FollowUp("retry", f"{QUESTION_END.sub('', last.task)}, {QUESTION_END.sub('', rest)}", subject)
    return None


def _correct(place: str, last: LastWork) -> FollowUp:
    """Return the last task at another place, which is a file or a name."""
    place = place.strip("`'\"()“” ")
    is_file = is_surely_file(place.partition(":")[0])
    bare = FILE_IN_TASK.sub("", last.task)
    if last.intent == "question":
        name = last.symbol.rpartition(".")[2]
        task = f"{QUESTION_END.sub('', bare)} in {place}" if is_file else _exchange(bare, name, place)
        return FollowUp("correction", task)
    return FollowUp("correction", last.task, f"{QUESTION_END.sub('', bare)} in {place}" if is_file else f"`{place}`")


def _read_retry(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    match = RETRY.fullmatch(text) or WITHOUT.fullmatch(text)
    if match is None or last.intent not in EDITS:
        return None
    wish = QUESTION_END.sub("", match["wish"]) or "in another way than before"
    return FollowUp("retry", f"{QUESTION_END.sub('', last.task)}, {wish}", describe_subject(last))


def _read_extra(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    match, subject = EXTRA.fullmatch(text), describe_subject(last)
    if match is None or not subject or names_subject(text, declared):
        return None
    word = match["extra"].lower().removeprefix("unit ")
    is_order = last.intent != "question" or ORDER.match(text) or text.lower().startswith("write")
    forms = EXTRAS if is_order else EXTRA_QUESTIONS
    form = next((form for start, form in forms if word.startswith(start)), "")
    return FollowUp("go_on", form.format(subject=subject)) if form else None


def _read_same(text: str, last: LastWork, declared: Collection[str]) -> FollowUp | None:
    match = SAME.fullmatch(text) or ABOUT.fullmatch(text) or TOO.fullmatch(text)
    if match is None:
        return None
    place = QUESTION_END.sub("", match["rest"]).strip("`'\"")
    word = place.split(" ")[0].strip("`'\"()")
    if not (names_subject(place, declared) or word.rpartition(".")[2] in declared):
        return None
    name = last.symbol.rpartition(".")[2]
    if not name and last.path:
        # the last prompt was about a file
        name = next((path for path in (last.path, PurePosixPath(last.path).name) if path in last.task), "")
        return FollowUp("same", last.task.replace(name, place) if name else f"{last.task} for {place}")
    task = _exchange(FILE_IN_TASK.sub("", last.task), name, place)
    return FollowUp("same", task, "" if last.intent == "question" else f"`{word}` {place[len(word) :].strip()}".strip())


def _exchange(task: str, name: str, place: str) -> str:
    """Return a task in which another name stands for a name. If it has not that name, the other one follows."""
    pattern = re.compile(rf"`?(?:\w+(?:\.|::|#))*\b{re.escape(name)}\b(?:\(\))?`?") if name else None
    if pattern and pattern.search(task):
        return pattern.sub(lambda match: place, task)
    if PRONOUN.search(task):
        return PRONOUN.sub(lambda match: place, task, count=1)
    return f"{QUESTION_END.sub('', task)} for {place}"


Reader = Callable[[str, LastWork, Collection[str]], FollowUp | None]
READERS: tuple[Reader, ...] = (
    *(_read_undo, _read_other_name, _read_ordinal, _read_other_value, _read_also_in, _read_correction, _read_retry),
    *(_read_one_for, _read_same, _read_extra),
)
"""The readers of follow-ups that say by their form how they go on, in the order in which they are asked."""
