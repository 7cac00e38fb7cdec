"""Parts of the last answer: prompts such as “how many of those are in store.py?” or “only the ones in tests”.

The last question is asked again, and of the places in its answer those in a file or a folder are kept and counted.
"""

import re
from dataclasses import dataclass

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.text.wording import format_count

MAX_CHARS = 120
THOSE = (
    r"(?:(?:those|these)(?: \w+)?|them|the(?:m| (?:ones|callers?|calls|uses|users|usages|tests?|places?|results?|lines|"
    r"hits|matches|functions?|methods?|classes)))"
)
IN = r"(?:in|inside|under|from|within|below|of)"
LEAD = (
    r"(?:(?:and|ok(?:ay)?|so|now|please|pls|but|then|show(?: me)?|list|give me|keep|take|i (?:mean|want|"
    r"need))\b[\s,:]*)*"
)
PLACE = (
    r"(?:(?:the|this|that) )?(?:(?:file|folder|directory|module|package) )?[`'\"]?(?P<place>[\w./@+~-]*[\w/])[`'\"]?"
    r"(?: (?:file|folder|directory|module|package|files))?"
)
TAIL = r"(?: (?:please|pls|now|only|itself))*[\s.!?]*"
FORMS = (
    (
        rf"(?:how many|which|what)(?: ones)?(?: (?:of|among))? {THOSE}(?: (?:are|is|sit|live|come))?(?: there)? {IN} "
        rf"{PLACE}"
    ),
    rf"how many (?:(?:are|is) (?:there )?)?(?:only )?(?:in|inside|under|within) {PLACE}",
    rf"(?:are|is) (?:any|some|all|none|one)(?: of)? {THOSE} {IN} {PLACE}",
    rf"(?:only|just)(?: {THOSE})?(?: (?:that|which) are)? {IN} {PLACE}",
    r"(?:only|just) (?:the )?(?P<kind>tests?|test files)(?: ones)?",
    (
        rf"(?P<without>(?:(?:only|just) )?(?:{THOSE} )?(?:(?:that|which) are )?(?:not|without|except|excluding|"
        rf"outside(?: of)?|no))"
        rf"(?: {THOSE})?(?: {IN})? {PLACE}"
    ),
    (
        rf"(?P<count>how many)(?: of)? (?:{THOSE}|are (?:there|they|those|these|that)|is that|are there in total)(?: "
        rf"in total)?"
    ),
)
PART = tuple(re.compile(f"{LEAD}{form}{TAIL}", re.IGNORECASE) for form in FORMS)
PLACE_LINE = re.compile(r" {2}(?P<path>[^\s:][^:\n]*):\d+\b.*")
"""A line of an answer that begins with a place."""
HERE = frozenset({"it", "here", "there", "file", "same", "this", "that"})
TESTS = re.compile(r"(?:unit )?(?:tests?|specs?|test files)", re.IGNORECASE)
OTHER_FILES = re.compile(r"\n {2}… and [\d,]+ more")


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """The part of an answer that is wanted.

    Attributes:
        place: The file or the folder whose lines are wanted, or “tests”. Empty for all lines, which are counted.
        is_without: Whether the lines in this place are left out, and not the others.
    """

    place: str = ""
    is_without: bool = False


def read_answer_part(prompt: str) -> AnswerPart | None:
    """Return the part of the last answer that a prompt wants, or None if it wants something else."""
    text = " ".join(prompt.replace("’", "'").split())
    if len(text) > MAX_CHARS:
        return None
    for form in PART:
        if match := form.fullmatch(text):
            groups = match.groupdict()
            if groups.get("count"):
                return AnswerPart()
            place = groups.get("place") or groups.get("kind") or ""
            if not (TESTS.fullmatch(place) or place.lower() in HERE or re.search(r"[./]", place) or " of " in text):
                # “only in store” may be anything
                continue
            return AnswerPart(place, bool(groups.get("without")))
    return None


def means_tests(part: AnswerPart) -> bool:
    """Return whether the wanted part are the lines in tests."""
    return TESTS.fullmatch(part.place) is not None


def select_part(answer: str, part: AnswerPart, last_path: str) -> str:
    """Return the lines of an answer in a place, with their number.

    Args:
        answer: The whole answer.
        part: The wanted part.
        last_path: The file that was spoken of last.
    """
    places = [match for line in answer.splitlines() if (match := PLACE_LINE.fullmatch(line))]
    place = last_path if part.place.lower() in HERE else part.place
    kept = [one[0] for one in places if not place or _is_in(one["path"], place) is not part.is_without]
    where = f" {'outside of' if part.is_without else 'in'} {place}" if place else ""
    head = f"{len(kept)} of the {len(places)} places {'is' if len(kept) == 1 else 'are'}{where}"
    if not place:
        head = f"There {'is' if len(places) == 1 else 'are'} {format_count(len(places), 'place')}"
    if OTHER_FILES.search(answer):
        head += ", of those that the answer showed"
    return "\n".join([f"{head}{':' if kept else '.'}", *kept])


def _is_in(path: str, place: str) -> bool:
    if TESTS.fullmatch(place):
        return TEST_PATH.search(path) is not None
    place = place.removeprefix("./").rstrip("/")
    stem = path.rpartition("/")[2].partition(".")[0]
    return f"/{path}".endswith(f"/{place}") or f"/{place}/" in f"/{path}" or stem == place
