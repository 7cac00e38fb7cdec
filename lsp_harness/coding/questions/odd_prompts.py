"""Prompts that are no request about code: single words, commands of a shell, small talk, and pasted texts.

An answer to them repeats nothing that may be a secret.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from lsp_harness.coding.location.task_mentions import is_surely_file
from lsp_harness.coding.questions.question import Question
from lsp_harness.files.secrets import redact
from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.problem import ToolProblem

PROGRAMS = (
    r"(?:ls|cd|rm|mv|cp|mkdir|chmod|grep|rg|git|gh|pip3?|uv|poetry|npm|npx|yarn|pnpm|cargo|docker|kubectl|python3?|pytest|"
    r"curl|wget|ssh|brew|apt(?:-get)?|sudo|ruff|black|mypy|tsc|eslint|node)"
)
"""Names of programs that no sentence begins with."""
OTHER_PROGRAMS = r"(?:cat|find|make|go|kill|touch|echo|which|export|source|head|tail|sort|open|code|test)"
"""Names of programs that are words, too."""
ARGUMENT = r"(?:-{1,2}\w\S*|\S*/\S*|\.\S*|[|>&].*)"
"""An argument that no sentence has: an option, a path, or a pipe."""
COMMAND = re.compile(
    rf"(?:[$>%]\s+)?(?:{PROGRAMS}(?:\s+\S+){{0,12}}|{OTHER_PROGRAMS}\s+(?:\S+\s+)*{ARGUMENT}(?:\s+\S+)*)\s*"
)
NO_COMMAND = re.compile(r"[?]|(?<![\w./-])(?:please|should|the|a|an)(?![\w./-])")
"""A sentence has these, and a command seldom."""
WORD = re.compile(r"[`'\"]?([\w./:#$@+~-]+)(?:\(\))?[`'\"]?\s*[?.!]*")
FRAME = re.compile(
    r"File \"([^\"\n]+)\", line (\d+)|\bat (?:.*\()?(?:file://)?(/?[\w./@+~-]+\.\w+):(\d+)|"
    r"panicked at (?:'[^']*', )?([\w./@+~-]+\.\w+):(\d+)|^([\w./@+~-]+\.\w+):(\d+)$",
    re.MULTILINE,
)
"""Matches a frame of a stack: of Python, of JavaScript, of Rust, or a place alone in its line."""
CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|"
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060\ufeff]"
)
MAX_SECRET_WORDS = 12
NOTHING_ASKED = "There is nothing to do yet. "
MESSAGE = re.compile(r"[\w.]*(?:Error|Exception|Warning|Panic)\b|(?:assertion|panicked|fatal|uncaught)", re.IGNORECASE)
TOOL_LINE = re.compile(r"\s*[\w./@+~-]+\.\w+(?::\d+:|\(\d+[,)])")
"""Matches a single line of a tool: a place and a message."""
FAILED_TEST = re.compile(r"^FAILED (\S+)|^test (\S+) \.\.\. FAILED$", re.MULTILINE)
RUNS_NO_COMMANDS = (
    "This looks like a command of a shell, and prompts run none. Write it in your shell. Its output can be piped or "
    "pasted here: {command} 2>&1 | lsp-harness code -"
)
GREETING = re.compile(
    r"(?:hi|hello|hey|hallo|thanks|thx|ok|okay|yes|yep|yeah|no|nope|exit|quit|cool|great|good|nice|bye|please|help|start|test|\W*\w?\W*)"
    r"[\s.!?]*",
    re.IGNORECASE,
)
"""A word that asks and orders nothing."""
LONG_TEXT_CHARS = 8_000
"""A longer text without an error of a tool is a pasted one, and nobody asks something in so many words."""
PASTED_TEXT = (
    "This looks like {what} without a request, and nothing was changed. Write in a sentence what you "
    "want, for example: "
)
WHAT_DOES_IT_MEAN = "“where does the message … come from?” or “fix the error in parse_config”"
SECRET = (
    "This looks like a key or a password, so it is repeated nowhere; exchange it if it is a real one. "
    "What shall I do with the code? For example: “where is the key read?”"
)
ASSIGNMENT = re.compile(
    r"\w*(?:SECRET|PASSWORD|PASSWD|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)\w*\s*[=:]\s*\S{6,}", re.IGNORECASE
)
PASTED_FORMS = (
    (
        re.compile(r"(?:diff --git |--- \S+\n\+\+\+ |Index: |@@ -\d)"),
        "a diff",
        "“apply this change to load: …” or “what changed?”",
    ),
    (
        re.compile(
            r"(?:select\s.+\sfrom\s|insert\s+into\s|delete\s+from\s|update\s+\w+\s+set\s|(?:create|drop|alter)\s+(?:table|index|view|"
            r"database)\s).*",
            re.IGNORECASE | re.DOTALL,
        ),
        "SQL",
        "“where are the users deleted?”",
    ),
    (re.compile(r"https?://\S+\Z"), "the address of a page, which I cannot open,", "“which code is about /users?”"),
    (re.compile(r"[\[{][\s\S]*[\]}],?\Z"), "JSON or data", WHAT_DOES_IT_MEAN),
    (
        re.compile(
            r"(?:\S*\d{2}:\d{2}:\d{2}\S*|\d{4}-\d{2}-\d{2}|\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR)\b).*\n", re.IGNORECASE
        ),
        "lines of a log",
        WHAT_DOES_IT_MEAN,
    ),
)
"""The beginning of a pasted text, what it is, and an example of a request."""
CODE_LINE = re.compile(
    r"(?:@\w|export |pub |async |static |public |private |def |class |function |fn |func |const |let |var |import "
    r"|from \w+ import|"
    r"struct |enum |interface |impl |type \w+ =|#include)"
)
CODE_END = re.compile(r"[:{};)\]]\s*\Z|^\s+\S", re.MULTILINE)
SMALL_TALK = re.compile(
    r"(?:(?:hi|hello|hey|yo|good (?:morning|evening|day|night)|thanks?(?: you)?|thx|cheers|great|nice|good|well "
    r"done|awesome|cool|"
    r"perfect|sorry|wow|lol|haha|bye|see you|ok|okay|so|very|much|a lot|work|job|stuff|there|how are you|how is "
    r"it going|"
    r"what's up|what is up|who are you|what are you|what can you do|what do you do|can you help(?: me)?|i need "
    r"help|today|doing|"
    r"friend|buddy|bot|again|then|for (?:that|this|the help|your help|everything)|that (?:was|is)|this (?:was|is)|"
    r"it works)\b|"
    r"[\s,.!?:;()^_<>/*'’-]|[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F])+",
    re.IGNORECASE,
)
INSULT = re.compile(
    r"\b(?:you(?:'re| are|r)?) (?:so |really |just |a |an |total |completely |fucking |piece of )*"
    r"(?:useless|stupid|dumb|idiot\w*|bad|terrible|awful|worst|garbage|trash|shit\w*|crap\w*|suck\w*|moron|joke|slow|"
    r"hopeless)\b|"
    r"^\W*(?:what a|such a|this(?: tool| thing| program)?(?: is|'s)?|it(?:'s| is)) (?:a |an |piece of |total |so )*"
    r"(?:useless|stupid|dumb|garbage|trash|shit\w*|crap\w*|suck\w*|joke)\W*\Z|"
    r"\bfuck(?:ing)? ?(?:you|this|it|off)?\b|^\W*(?:shit|damn|wtf)\W*\Z",
    re.IGNORECASE,
)
INJECTION = re.compile(
    r"\b(?:ignore|forget|disregard|override)\b.{0,30}\b(?:instructions|your (?:rules|prompt)|(?:previous|above|"
    r"earlier) prompts?)\b|"
    r"\bjailbreak\b|^\W*(?:you are now|act as|pretend (?:to be|you))\b|"
    r"\b(?:reveal|print|show|repeat|tell)\b.{0,20}\b(?:your|system) (?:instructions|prompt)\b",
    re.IGNORECASE,
)
IMPOSSIBLE = re.compile(
    r"^\W*(?:(?:please|pls|can you|could you|hey|now|ok)\b\W*)*(?:"
    r"(?:push|commit|merge|release|ship|deploy)(?: (?:it|this|that|them|all|everything|(?:my|the|these|all|your) "
    r"(?:\w+ )?(?:changes?|branch|commits?|code|work|edits?|release|version|pr|pull request)))?"
    r"(?: (?:and|to|into|now|as)\b.*)?\W*\Z|"
    r"(?:draw|paint|make|create|generate|show|send)(?: me| us)? (?:an? )?(?:picture|image|photo|drawing|"
    r"painting|logo)s? of|"
    r"(?:tell|write|sing|give|read)(?: me| us)? (?:an? |the )?(?:jokes?|poems?|songs?|story|stories|recipes?|"
    r"news|haiku)\b|"
    r"(?:install|download|restart|reboot|google)(?: (?!(?:in|if|when|the|a|an)\b)[\w.@/-]+)?\W*\Z|"
    r"open (?:an? |the )?(?:pr|pull request|issue|ticket|browser|web ?page|website)\b|search the (?:web|internet)\b)|"
    r"\b(?:what(?:'s| is| will| was)|how(?:'s| is| will)) (?:be )?the (?:weather|temperature outside|news|"
    r"time(?: now)?\W*\Z|date today)|"
    r"\bwill it (?:rain|snow|be (?:sunny|cold|warm|hot))\b|\b(?:weather|forecast) (?:in|for|today|tomorrow)\b|"
    r"\bcapital of\b|"
    r"\bwhat (?:time|day) is it\b|\bwho (?:is the president|won the)\b|\b(?:bitcoin|stock) price\b|\bhoroscope\b",
    re.IGNORECASE,
)
"""Matches what no code of a folder is asked for. A prompt that names code of the folder is none of these."""
IMPOSSIBLE_ORDER = re.compile(
    r"\W*(?:(?:please|pls|can you|could you|hey|now|ok)\b\W*)*(?:"
    r"(?:deploy|publish|upload|release) (?:it|this|that|everything|(?:the|my|our) (?:package|project|site|app|"
    r"code|repo\w*)|to)\b|"
    r"send (?:an?|the|me) (?:\w+ )?(?:e-?mails?|mails?|sms|letter|text message) (?:to|that|about)\b|"
    r"(?:e-?mail|mail|phone|call|text) (?:him|her|them|me|us|my \w+)\b|"
    r"(?:tweet|buy|remind me|order (?:me|us|some)|book (?:me|us|an? (?:table|flight|room|hotel)))\b)",
    re.IGNORECASE,
)
"""Matches an order that no program which changes code can carry out, whatever code it names."""
CONTRADICTION = re.compile(
    r"\b(?P<verb>return|raise|throw|be|have|use|call|accept|log|print|keep|allow|write|read)s?\s+(?P<what>[\w.`'\"]+)(?=.*\b(?:but|and|yet)\b"
    r".*\b(?:never|not|no longer|without)\s+(?:ever\s+)?(?P=verb)(?:s|ing)?\s+(?P=what)(?:\W|\Z))",
    re.IGNORECASE | re.DOTALL,
)
CONTRADICTS = (
    "These wishes contradict each other: to {wish}, and never to {wish}. Nothing was changed. Write which of them "
    "counts, or when "
    "each of them does."
)
CANNOT = "I cannot do this: I only read, explain and change the code of this folder. "
NO_REQUEST = "This asks nothing about the code of this folder. "
UNKNOWN_WORD = "{name} is no name and no file that this folder has. "


@dataclass(frozen=True, slots=True)
class PastedOutput:
    """The problem in the pasted output of a tool.

    Attributes:
        task: The prompt that repairs the problem.
        place: The words that say its place, or an empty text if the task says it.
    """

    task: str
    place: str


def clean_prompt(prompt: str) -> str:
    """Return a prompt without the codes of a terminal and other characters that cannot be seen."""
    return CONTROL.sub("", prompt)


def read_pasted_text(prompt: str) -> str:
    """Return what to say about a pasted text without a request, or an empty text if the prompt is none.

    Args:
        prompt: The prompt, which has no error of a tool that is about this folder.
    """
    text = prompt.strip()
    if not text:
        return ""
    bare = ASSIGNMENT.search(text) and len(text.split()) <= len(text.splitlines()) + 1
    if bare or (redact(text) != text and len(text.split()) < MAX_SECRET_WORDS):
        return SECRET
    for start, what, example in PASTED_FORMS:
        if start.match(text):
            return PASTED_TEXT.format(what=what) + f"{example}."
    if len(text) > LONG_TEXT_CHARS:
        return PASTED_TEXT.format(what=f"a pasted text of {len(text):,} characters") + f"{WHAT_DOES_IT_MEAN}."
    return ""


def is_pasted_code(prompt: str) -> bool:
    """Return whether a prompt is only code of more than one line."""
    text = prompt.strip()
    return "\n" in text and CODE_LINE.match(text) is not None and CODE_END.search(text) is not None


def read_foreign_wish(prompt: str) -> str:
    """Return what to say to a prompt that is about no code, such as small talk, or an empty text.

    Args:
        prompt: A prompt that names neither a file nor a declaration of the folder.
    """
    text = prompt.strip()
    if not text or not re.search(r"\w", text) or SMALL_TALK.fullmatch(text):
        return NOTHING_ASKED
    if INJECTION.search(text) or IMPOSSIBLE.search(text):
        return CANNOT
    return NO_REQUEST if INSULT.search(text) else ""


def read_contradiction(prompt: str) -> str:
    """Return what to say to a prompt that wants something and also never the same, or an empty text."""
    match = CONTRADICTION.search(prompt)
    if match is None or re.search(r"\b(?:unless|except|only if|otherwise)\b", prompt, re.IGNORECASE):
        return ""
    return CONTRADICTS.format(wish=f"{match['verb']} {match['what']}")


def is_command(prompt: str) -> bool:
    """Return whether a prompt is a command of a shell."""
    return COMMAND.fullmatch(prompt.strip()) is not None and not NO_COMMAND.search(prompt)


def read_single_word(prompt: str, declared: Collection[str]) -> Question | None:
    """Return the question where a name or a file is, if a prompt is only this, else None."""
    match = WORD.fullmatch(prompt.strip())
    if match is None:
        return None
    word = match[1]
    if is_surely_file(word):
        return Question("contents", file=word)
    name = re.sub("::|#", ".", word)
    return Question("where", name) if name.rpartition(".")[2] in declared else None


def read_pasted_output(prompt: str, root: str, find_file: Callable[[str], str]) -> PastedOutput | None:
    """Return the first problem in a pasted output that is about this folder, or None if the prompt is no output.

    Args:
        prompt: The prompt, which may have words of the user before the output.
        root: The folder.
        find_file: Returns the path in the folder of a path, or an empty text if the folder has no such file.
    """
    if "\n" not in prompt.strip() and not TOOL_LINE.match(prompt):
        return None
    for problem in digest_output(prompt, root=root).problems:
        if problem.test:
            return PastedOutput(f"fix the failing test {problem.test}", "")
        if place := _find_place(problem, prompt, find_file):
            return PastedOutput(f"fix {place}: {problem.message}", place)
    if place := _find_frame(prompt, find_file):
        return PastedOutput(f"fix {place}: {_find_message(prompt)}", place)
    if test := FAILED_TEST.search(prompt):
        return PastedOutput(f"fix the failing test {test[1] or test[2]}", "")
    return None


def _find_message(prompt: str) -> str:
    """Return the line of a stack that says what is wrong."""
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    named = [line for line in lines if MESSAGE.match(line)]
    return named[-1] if named else lines[-1]


def _find_place(problem: ToolProblem, prompt: str, find_file: Callable[[str], str]) -> str:
    """Return `path:line` of a problem, or else of the last frame of a stack that is in the folder."""
    if problem.line and (path := find_file(problem.path)):
        return f"{path}:{problem.line}"
    return _find_frame(prompt, find_file)


def _find_frame(prompt: str, find_file: Callable[[str], str]) -> str:
    """Return the place of the frame of a stack that is in the folder and nearest to the error, or an empty text."""
    frames = [*FRAME.finditer(prompt)]
    # Python writes the last call last, the others write it first
    for frame in reversed(frames) if frames and frames[0][1] else frames:
        path = frame[1] or frame[3] or frame[5] or frame[7]
        if found := find_file(path):
            return f"{found}:{frame[2] or frame[4] or frame[6] or frame[8]}"
    return ""
