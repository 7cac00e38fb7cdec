"""Answers that show code: the lines of a declaration or of a file as they are now, and the lines that have changed."""

import re
from collections.abc import Iterator

from lsp_harness.coding.questions.project_facts import (
    MAX_MEANINGS,
    ExactAnswer,
    ProjectFacts,
    answer_about,
    describe_absence,
    find_file,
    find_lines,
    format_list,
)
from lsp_harness.coding.questions.question import ONE, Question
from lsp_harness.coding.shown_code import show_code
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.symbols.declarations import WEAK_KINDS
from lsp_harness.text.position import decode
from lsp_harness.text.wording import format_count

MAX_SHOWN_LINES = 120
"""Most lines that are shown of a declaration or a file if its code was asked for."""
MAX_CHANGED_LINES = 60
"""So many changed lines are shown. Of more, only the files are listed."""
STATUS_WORDS = {"M": "changed", "A": "added", "D": "deleted", "R": "renamed", "?": "new", "U": "in conflict"}
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


async def show_source(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the lines of a declaration or of a file as they are now."""
    if question.topic == ONE:
        return await _show_one(facts, question)
    if not question.name:
        return await _show_lines(facts, question)

    async def describe(symbol: Symbol) -> str:
        return _show_symbol(facts, symbol)

    return await answer_about(facts, question, describe)


def _show_symbol(facts: ProjectFacts, symbol: Symbol) -> str:
    document = facts.read_text(symbol.path)
    if document is None:
        return f"{symbol.path} cannot be read, or no model may see it."
    return show_code(document, symbol.path, *find_lines(document, symbol), "", max_lines=MAX_SHOWN_LINES)


async def _show_one(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the declarations whose names have a word, those of the file that was spoken of."""
    if not question.file:
        return None
    word = question.name.lower()
    symbols = await facts.index.symbols_in(facts.uri, question.file)
    found = [one for one in symbols if word in split_words(one.name).lower().split() and one.kind not in WEAK_KINDS]
    # a class comes before its members
    outer = [one for one in found if one.parent < 0] or found
    if not outer:
        return ExactAnswer(describe_absence(facts, f"declaration with the word {question.name}", ()))
    return ExactAnswer("\n\n".join(_show_symbol(facts, one) for one in outer[:MAX_MEANINGS]), outer[0])


async def _show_lines(facts: ProjectFacts, question: Question) -> ExactAnswer:
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    document = facts.read_text(path)
    if document is None:
        return ExactAnswer(f"{path} cannot be read, or no model may see it.")
    count = document.line_of(max(0, len(document.data) - 1)) + 1
    numbers = [int(number) for number in re.findall(r"\d+", question.topic)] or [1, count]
    first, last = numbers[0], min(numbers[-1], count)
    if not 0 < first <= last:
        return ExactAnswer(f"{path} has {format_count(count, 'line')}.", path=path)
    return ExactAnswer(show_code(document, path, first, last, "", max_lines=MAX_SHOWN_LINES), path=path)


async def show_changes(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which files differ from the last commit and by how many lines, and show the lines if they are few.

    The question may be about one file. The lines of a file that no model may see are not shown.
    """
    path = await find_file(facts, question) if question.file else ""
    if isinstance(path, ExactAnswer):
        return path
    limits = ("--", path) if path else ()
    status = (await facts.run_git("status", "--porcelain=v1", "--untracked-files=all", *limits)).splitlines()
    if not status:
        last = (await facts.run_git("log", "-1", "--format=%h %s (%an, %ad)", "--date=short")).strip()
        what = f"{path} has not" if path else "Nothing has"
        return ExactAnswer(f"{what} changed since the last commit: {last}.", path=path)
    numbers = {
        name: f"+{added} -{removed}"
        for added, removed, name in (
            line.split("\t", 2) for line in (await facts.run_git("diff", "--numstat", "HEAD", *limits)).splitlines()
        )
    }
    lines = [
        f"{line[3:]}  {STATUS_WORDS.get(line[:2].strip()[:1], line[:2].strip())} {numbers.get(line[3:], '')}".rstrip()
        for line in status
    ]
    verb = "differs" if len(lines) == 1 else "differ"
    text = f"{format_count(len(lines), 'file')} {verb} from the last commit:{format_list(lines)}"
    new = [line[3:] for line in status if line.startswith("?")]
    shown = await _show_changed_lines(facts, [*numbers], new)
    return ExactAnswer(f"{text}\n\n{shown}" if shown else text, path=path)


async def _show_changed_lines(facts: ProjectFacts, changed: list[str], new: list[str]) -> str:
    """Return the changed lines of some files, or an empty text if they are too many or no model may see them."""
    shown, count = list[str](), 0
    for path in (one for one in [*changed, *new] if facts.read_text(one)):
        if path in new:
            document = facts.read_text(path)
            lines = [f"+{line}" for line in decode(document.data).splitlines()] if document else []
        else:
            diff = await facts.run_git("diff", "--no-color", "--no-ext-diff", "-U0", "HEAD", "--", path)
            lines = [*_read_diff(diff.splitlines())]
        count += sum(line.startswith(("+", "-")) for line in lines)
        if count > MAX_CHANGED_LINES:
            return ""
        shown += [f"{path}:", *(f"  {line}" for line in lines)]
    return "\n".join(shown)


def _read_diff(lines: list[str]) -> Iterator[str]:
    """Yield the changed lines of a diff of one file, and before each group of them its first line in the new text."""
    is_head = True
    for line in lines:
        if match := HUNK.match(line):
            is_head = False
            yield f"line {match[1]}:"
        elif not is_head and line.startswith(("+", "-")):
            yield line
