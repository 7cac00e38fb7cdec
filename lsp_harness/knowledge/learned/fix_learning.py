"""Makes a template of an accepted fix.

A name or a literal becomes abstract if the fix keeps it. A name that the fix removes or that must be there for the new
text to make sense stays as it is: another unknown name is not fixed by the import of this one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.files.secrets import find_secret_lines, find_secrets
from lsp_harness.knowledge.learned.fix_template import (
    KINDS,
    LINE,
    LITERAL,
    NAME,
    TEXT,
    CodeWindow,
    ErrorReport,
    FixTemplate,
    TokenEdit,
)
from lsp_harness.syntax.syntax_errors import find_faults
from lsp_harness.syntax.tokens import Token
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import common_prefix_and_suffix, differences
from lsp_harness.text.position import Span, decode, encode

MAX_CHANGED_BYTES = 1500
"""Largest distance between the first and the last changed byte of a fix that is learned."""
MAX_PATTERN_TOKENS = 48
MAX_NEW_CHARS = 400
MIN_BOUND_LITERAL_CHARS = 3
"""A shorter literal in the new text, such as `0`, is rarely there because the old code has it."""
MARKS = {kind: mark for mark, kind in KINDS.items()}
INDENTATION = re.compile(r"[ \t]*")

Run = tuple[int, int, int, int]
"""The first and last index of the replaced tokens, and those of the new tokens."""


def learn_template(report: ErrorReport, before: SyntaxTree, after: SyntaxTree) -> FixTemplate | None:
    """Return the template of a fix, or None if it is too large, has a comment or a secret, or moves code outwards.

    Args:
        report: The error that the fix repairs.
        before: The text with the error.
        after: The text without it.
    """
    old_data, new_data = before.document.data, after.document.data
    head, tail = common_prefix_and_suffix(old_data, new_data)
    changed = Span(min(head, report.start), max(len(old_data) - tail, report.end))
    if changed.end - changed.start > MAX_CHANGED_BYTES:
        return None
    new_changed = Span(changed.start, changed.end + len(new_data) - len(old_data))
    if _has_secret(before, changed) or _has_secret(after, new_changed):
        return None
    is_lexical = bool(find_faults(before))
    windows = [
        CodeWindow.read(tree, span, is_lexical=is_lexical) for tree, span in ((before, changed), (after, new_changed))
    ]
    if not all(window.tokens for window in windows):
        return None
    template = _Learner(report, *windows, is_lexical=is_lexical, language=before.language.id).learn()
    return None if template and find_secrets(encode(template.to_json())) else template


def _has_secret(tree: SyntaxTree, span: Span) -> bool:
    document = tree.document
    lines = range(document.line_of(span.start), document.line_of(min(span.end, len(document.data))) + 1)
    return not find_secret_lines(document).isdisjoint(lines)


@dataclass(slots=True)
class _Cut:
    """A replaced part of the old text and the new text for it: positions as in `TokenEdit`, and byte offsets."""

    start: int
    end: int
    new: Span


class _Learner:
    def __init__(
        self, report: ErrorReport, old: CodeWindow, new: CodeWindow, *, is_lexical: bool, language: str
    ) -> None:
        self._report, self._old, self._new = report, old, new
        self._is_lexical, self._language = is_lexical, language

    def learn(self) -> FixTemplate | None:
        old, new, report = self._old, self._new, self._report
        runs = differences(old.keys(), new.keys())
        cuts = [self._cut(run) for run in runs]
        if not cuts or any(cut is None or not self._is_clean(cut) for cut in cuts):
            return None
        found = [cut for cut in cuts if cut]
        anchor = old.index_at(report.start)
        added = {token.text for _, _, first, end in runs for token in new.tokens[first:end] if token.kind == "name"}
        low, high, borders = self._find_pattern(anchor, found, added)
        if not 0 <= low < high <= len(old.tokens) or high - low > MAX_PATTERN_TOKENS:
            return None
        tokens = old.tokens[low:high]
        entries = self._number_tokens(tokens, self._exact_texts(tokens, runs))
        entry_of = {token.text: entry for token, entry in zip(tokens, entries, strict=True) if entry[0] != TEXT}
        edits = [self._make_edit(cut, low, entry_of) for cut in found]
        if any(edit is None for edit in edits):
            return None
        names = tuple(entry_of.get(name, TEXT + name) for name in report.names)
        return FixTemplate(
            self._language,
            report.signature,
            names,
            tuple(entries),
            anchor - low,
            borders,
            self._is_lexical,
            tuple(edit for edit in edits if edit),
        )

    def _cut(self, run: Run) -> _Cut | None:
        """Return a run of tokens together with the white space that changes, or None at the border of the window."""
        (first, end, new_first, new_end), old, new = run, self._old, self._new
        before, after = old.gap(first), old.gap(end)
        new_text = Span(
            new.tokens[new_first - 1].end if new_first else new.span.start,
            new.tokens[new_end].start if new_end < len(new.tokens) else new.span.end,
        )
        keeps_start = keeps_end = False
        if first < end and new_first < new_end:
            keeps_start, keeps_end = before == new.gap(new_first), after == new.gap(new_end)
        elif first == end:
            inserted = decode(new.document.data[slice(*new_text)])
            if inserted.startswith(before):
                start = new_text.start + len(encode(before))
                return _Cut(2 * first, 2 * first, Span(start, new_text.end))
            if inserted.endswith(before):
                position = 2 * (first - 1) + 1
                return _Cut(position, position, Span(new_text.start, new_text.end - len(encode(before))))
        elif new.gap(new_first) == after:
            # code is removed together with the space before it
            return _Cut(2 * first if not before else 2 * first - 1, 2 * end - 1, Span(new_text.start, new_text.start))
        return _Cut(
            2 * first if keeps_start else 2 * first - 1,
            2 * end - 1 if keeps_end else 2 * end,
            Span(
                new.tokens[new_first].start if keeps_start else new_text.start,
                new.tokens[new_end - 1].end if keeps_end else new_text.end,
            ),
        )

    def _is_clean(self, cut: _Cut) -> bool:
        """Return whether a cut is inside of the window, has no comment and is short."""
        old, new = self._old, self._new
        if cut.start < 0 or cut.end >= 2 * len(old.tokens) or cut.new.end - cut.new.start > MAX_NEW_CHARS:
            return False
        start, end = (_position_offset(old, position) for position in (cut.start, cut.end))
        return not (old.has_comment(start, end) or new.has_comment(*cut.new))

    def _find_pattern(self, anchor: int, cuts: Sequence[_Cut], added: set[str]) -> tuple[int, int, tuple[bool, bool]]:
        """Return the tokens of the error, of the fix and of the names that it adds, and which line borders matter.

        Where the fix changes the first or last of them, the token beside it belongs to the pattern, or the border.
        """
        old, report = self._old, self._report
        marked = [index for index, token in enumerate(old.tokens) if report.start <= token.start < report.end]
        low = min(anchor, *(cut.start // 2 for cut in cuts))
        high = max(anchor, *marked, *(cut.end // 2 for cut in cuts)) + 1
        for name in added - {token.text for token in old.tokens[low:high]}:
            places = [index for index, token in enumerate(old.tokens) if token.text == name and token.kind == "name"]
            if places:
                nearest = min(places, key=lambda index: abs(index - anchor))
                low, high = min(low, nearest), max(high, nearest + 1)
        borders = (
            any(cut.start <= 2 * low for cut in cuts) and old.has_line_break(low),
            any(cut.end >= 2 * high - 1 for cut in cuts) and old.has_line_break(high),
        )
        low -= any(cut.start <= 2 * low for cut in cuts) and not borders[0]
        high += any(cut.end >= 2 * high - 1 for cut in cuts) and not borders[1]
        return low, high, borders

    def _exact_texts(self, tokens: Sequence[Token], runs: Sequence[Run]) -> set[str]:
        """Return the names and literals that must stand in the code as they are."""
        names = set(self._report.names)
        kept = {token.text for token in self._new.tokens}
        removed = {token.text for first, end, _, _ in runs for token in self._old.tokens[first:end]}
        known = {token.text for token in tokens if token.kind == "name"}
        added = [token for _, _, first, end in runs for token in self._new.tokens[first:end]]
        has_new_names = any(
            token.kind == "name" and token.text.strip("_") and token.text not in known for token in added
        )
        # the new name is right for this unknown name, and for no other one
        is_for_one_name = self._report.is_about_name and has_new_names
        return (removed - kept - names) | (names if is_for_one_name else set())

    def _number_tokens(self, tokens: Sequence[Token], exact: set[str]) -> list[str]:
        numbers: dict[tuple[str, str], str] = {}
        entries: list[str] = []
        for token in tokens:
            mark = MARKS.get(token.kind)
            if mark is None or token.text in exact:
                entries.append(TEXT + token.text)
                continue
            count = sum(entry[0] == mark for entry in numbers.values())
            entries.append(numbers.setdefault((token.kind, token.text), f"{mark}{count}"))
        return entries

    def _make_edit(self, cut: _Cut, low: int, entry_of: dict[str, str]) -> TokenEdit | None:
        data, pieces, position = self._new.document.data, list[str](), cut.new.start
        base = self._old.indentation_at(self._report.start)
        for token in self._new.tokens:
            if not cut.new.start <= token.start < cut.new.end:
                continue
            entry = entry_of.get(token.text, "")
            is_bound = entry[:1] == NAME or (entry[:1] == LITERAL and len(token.text) >= MIN_BOUND_LITERAL_CHARS)
            if not (is_bound and MARKS.get(token.kind) == entry[0]):
                continue
            between = _split_lines(decode(data[position : token.start]), base)
            if between is None:
                return None
            pieces += [*between, entry]
            position = token.end
        rest = _split_lines(decode(data[position : cut.new.end]), base)
        if rest is None:
            return None
        return TokenEdit(cut.start - 2 * low, cut.end - 2 * low, tuple(pieces + rest))


def _position_offset(window: CodeWindow, position: int) -> int:
    token = window.tokens[position // 2]
    return token.end if position % 2 else token.start


def _split_lines(text: str, base: str) -> list[str] | None:
    """Return a text as entries, or None if one of its lines is indented less than the line of the error."""
    first, *lines = text.replace("\r\n", "\n").split("\n")
    pieces = [TEXT + first] if first else []
    for number, line in enumerate(lines):
        match = INDENTATION.match(line)
        indentation = match.group() if match else ""
        if not line.strip() and number < len(lines) - 1:
            pieces.append(f"{TEXT}\n")
        elif not indentation.startswith(base):
            return None
        else:
            pieces.append(LINE + indentation.removeprefix(base))
            pieces += [TEXT + line[len(indentation) :]] if line.strip() else []
    return pieces
