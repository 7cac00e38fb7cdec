"""A text that does not parse, its tokens, and the places where the fault may be.

An LR parser notices a fault at the first token that cannot follow, so the fault is there or before. The error nodes
begin and end near the fault. Brackets without a partner and a wrong indentation give more exact places.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.lexemes import CLOSERS, Lexeme, read_lexemes
from lsp_harness.syntax.parse_budget import Allowance, ParseBudgetExceeded
from lsp_harness.syntax.recovery.blocks import continues_block, find_misaligned_lines
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.syntax.tree import SyntaxTree, parse_root
from lsp_harness.syntax.tree_query import captures
from lsp_harness.text.code_lines import byte_indentation_of

MAX_PARSES = 300
"""Maximum number of parses."""
MAX_READINGS = 5
"""Maximum number of bytes that are parsed, as a multiple of the size of the text."""
PARSE_TIME_S = 0.15
"""Maximum processor time of all parses together."""


class BrokenLineSearch:
    """The search in one text. If the allowance of its parses is spent, no line is found."""

    def __init__(
        self,
        language: LanguageSpec,
        lines: Sequence[bytes],
        continues: Sequence[bool],
        allowance: Allowance | None = None,
    ) -> None:
        """Begin a search.

        Args:
            language: The language of the text.
            lines: The lines of the text.
            continues: For each line whether it continues or ends a block of an earlier line.
            allowance: The processor time for all parses. The default is `PARSE_TIME_S`.
        """
        self._language = language
        self._allowance = allowance or Allowance(PARSE_TIME_S)
        self._lines = lines
        self._continues = continues
        self._widths = [len(byte_indentation_of(line)) if line.strip() else -1 for line in lines]
        self._remaining_parses = MAX_PARSES
        self._remaining_bytes = MAX_READINGS * sum(map(len, lines))

    def find_lines(self, first: int, last: int) -> list[int]:
        """Return the numbers of the lines of the innermost block that does not parse.

        Args:
            first: The first line to search.
            last: The line after the last one.

        Returns:
            Line numbers. The list is empty if everything parses or parsing costs too much.
        """
        try:
            return self._find_lines(first, last)
        except ParseBudgetExceeded:
            return []

    def _find_lines(self, first: int, last: int) -> list[int]:
        for begin, end in self._split_blocks(first, last):
            if self._remaining_parses <= 0 or self._remaining_bytes <= 0:
                return []
            if self._does_parse(begin, end):
                continue
            width = min((w for w in self._widths[begin:end] if w >= 0), default=0)
            own_lines = [n for n in range(begin, end) if 0 <= self._widths[n] <= width]
            for start, stop in zip(own_lines, [*own_lines[1:], end], strict=True):
                if stop - start > 1 and (inner := self._find_lines(start + 1, stop)):
                    return inner
            return own_lines
        return []

    def _split_blocks(self, first: int, last: int) -> list[tuple[int, int]]:
        width = min((w for w in self._widths[first:last] if w >= 0), default=0)
        starts = [n for n in range(first, last) if 0 <= self._widths[n] <= width and not self._continues[n]]
        if not starts or starts[0] > first:
            starts.insert(0, first)
        return list(zip(starts, [*starts[1:], last], strict=True))

    def _does_parse(self, first: int, last: int) -> bool:
        text = b"\n".join(self._lines[first:last])
        if not text.strip():
            return True
        for prefix, suffix in self._language.recovery.wrappers:
            self._remaining_parses -= 1
            self._remaining_bytes -= len(text)
            if not parse_root(self._language, prefix + text + suffix, self._allowance).has_error:
                return True
        return False


MAX_FAULT_PLACES = 8
"""Maximum number of places from each source, for example from the parser."""
MAX_NEARBY_PLACES = 14
"""Maximum number of places around which every token is examined."""
MAX_NEARBY_TOKENS = 80
"""Maximum number of tokens before and after such a place."""
MAX_SUSPECTS = 6
"""Maximum number of suspect brackets without a partner, and of those with a partner."""


class SuspectBracket(NamedTuple):
    """A bracket whose partner may be missing, and the range of tokens in which the partner may belong.

    Attributes:
        bracket: The index of the bracket token.
        first: The first token before which the partner may be inserted.
        last: The last token before which the partner may be inserted.
        has_partner: Whether the bracket has a partner, but the indentation of the lines between contradicts it.
    """

    bracket: int
    first: int
    last: int
    has_partner: bool


@dataclass(frozen=True)
class BrokenText:
    """A broken text before any edit is tried.

    Attributes:
        tree: The tree of the text, with errors.
        start: The byte offset at which the reported error starts.
        end: The byte offset at which it ends.
    """

    tree: SyntaxTree
    start: int
    end: int

    @property
    def data(self) -> bytes:
        return self.tree.data

    @property
    def language(self) -> LanguageSpec:
        return self.tree.language

    @cached_property
    def tokens(self) -> Sequence[Lexeme]:
        return read_lexemes(self.tree)

    @cached_property
    def token_starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    @cached_property
    def fault_places(self) -> list[int]:
        """Indices of the tokens at which a fault is noticed. Those that the parser names come first."""
        offsets: list[int] = []
        if self.language.compiles_in_process and (fault := find_python_fault(self.data)):
            offsets += [fault.start, fault.end] if b"\n" not in self.data[fault.start : fault.end] else [fault.start]
        pending = [self.tree.root]
        while pending and len(offsets) < 2 * MAX_FAULT_PLACES:
            node = pending.pop()
            if node.is_error or node.is_missing:
                offsets += [node.start_byte, node.end_byte]
            if node.has_error:
                pending += reversed(node.children)
        accepted_faults = captures(self.language, "faults", self.tree.root).get("fault", [])
        offsets += [node.start_byte for node in accepted_faults[:MAX_FAULT_PLACES]]
        offsets += [self.start]
        offsets += [self._line_start(number) for number in self._broken_lines()[:MAX_FAULT_PLACES]]
        last = len(self.tokens) - 1
        misaligned = list(find_misaligned_lines(self.tokens, self.indentation_width, self.language))[:MAX_FAULT_PLACES]
        return list(dict.fromkeys([*(min(self.token_at(offset), last) for offset in offsets), *misaligned]))

    def _line_start(self, number: int) -> int:
        start, end = self.tree.document.line_span(number)
        return end - len(self.data[start:end].lstrip())

    def _broken_lines(self) -> list[int]:
        """Return the lines of the innermost block that does not parse on its own."""
        document = self.tree.document
        lines = [document.line(number) for number in range(len(document.line_starts))]
        continues = [False] * len(lines)
        for token in self.tokens:
            if token.starts_line:
                continues[token.line] = continues_block(token, self.language)
        return BrokenLineSearch(self.language, lines, continues).find_lines(0, len(lines))

    def token_at(self, offset: int) -> int:
        """Return the first token that does not end before a byte offset."""
        position = bisect_left(self.token_starts, offset)
        return position - 1 if position and self.tokens[position - 1].end > offset else position

    @cached_property
    def nearby_tokens(self) -> list[int]:
        """The tokens on the lines where faults are noticed, and then those on the lines of code before and after."""
        indices: dict[int, None] = {}
        for reach in (0, 1):
            for point in self.fault_places[:MAX_NEARBY_PLACES]:
                first, last = self.tokens_of_line(point - 1 if point else 0), self.tokens_of_line(point)
                begin, end = first.start, last.stop
                if reach and begin:
                    begin = self.tokens_of_line(begin - 1).start
                if reach and end < len(self.tokens):
                    end = self.tokens_of_line(end).stop
                # one line may contain the whole text
                begin, end = max(begin, point - MAX_NEARBY_TOKENS), min(end, point + MAX_NEARBY_TOKENS)
                indices.update(dict.fromkeys(range(begin, end)))
        return list(indices)

    def tokens_of_line(self, position: int) -> range:
        """Return the tokens on the line of a token."""
        first = position
        while first and not self.tokens[first].starts_line:
            first -= 1
        last = position + 1
        while last < len(self.tokens) and not self.tokens[last].starts_line:
            last += 1
        return range(first, last)

    def indentation_width(self, position: int) -> int:
        """Return the width in bytes of the indentation of the line of a token."""
        return len(self.line_indentation(position))

    def line_indentation(self, position: int) -> bytes:
        """Return the indentation of the line of a token."""
        begin = self.data.rfind(b"\n", 0, self.tokens[position].start) + 1
        return byte_indentation_of(self.data[begin : self.tokens[position].end])

    @cached_property
    def suspect_brackets(self) -> list[SuspectBracket]:
        """The brackets whose partner may be missing."""
        return _find_suspects(self)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """The names and keywords of the text."""
        return frozenset(token.text for token in self.tokens if token.kind in ("word", "keyword"))


def _find_suspects(broken_text: BrokenText) -> list[SuspectBracket]:
    tokens, suspects, paired_suspects = broken_text.tokens, list[SuspectBracket](), list[SuspectBracket]()
    open_brackets: list[int] = []
    indents: dict[int, int] = {}
    """The width of the indentation of the line of each open bracket."""
    doubt_places: dict[int, int] = {}
    width = 0
    for position, token in enumerate(tokens):
        if token.starts_line:
            width = broken_text.indentation_width(position)
            is_continued = continues_block(token, broken_text.language)
            for opener in reversed(open_brackets):
                if opener in doubt_places or width > indents[opener] or (is_continued and width == indents[opener]):
                    break
                # the indentation of the line says that the bracket is already closed
                if opener != position - 1 or token.kind != "close":
                    doubt_places[opener] = position
        if token.kind == "open":
            open_brackets.append(position)
            indents[position] = width
        elif token.kind == "close":
            opener_sign = CLOSERS[token.text[:1]]
            partner = next(
                (i for i in range(len(open_brackets) - 1, -1, -1) if tokens[open_brackets[i]].text[-1:] == opener_sign),
                -1,
            )
            if partner < 0:
                suspects.append(
                    SuspectBracket(
                        position, _find_earliest_opener(broken_text, position, open_brackets), position, False
                    )
                )
                continue
            for opener in open_brackets[partner + 1 :]:
                suspects.append(
                    SuspectBracket(opener, opener + 1, min(doubt_places.get(opener, position), position), False)
                )
            if ((opener := open_brackets[partner]) in doubt_places and token.starts_line) or opener in doubt_places:
                paired_suspects.append(SuspectBracket(opener, opener + 1, doubt_places[opener], True))
            elif token.starts_line and width != indents[opener] and opener_sign == b"{":
                paired_suspects.append(
                    SuspectBracket(
                        position, _find_earliest_opener(broken_text, position, open_brackets[:partner]), position, True
                    )
                )
            del open_brackets[partner:]
    suspects += [
        SuspectBracket(opener, opener + 1, doubt_places.get(opener, len(tokens)), False) for opener in open_brackets
    ]
    first_place = broken_text.fault_places[0] if broken_text.fault_places else 0
    suspects.sort(key=lambda suspect: (abs(suspect.last - first_place), suspect.bracket))
    paired_suspects.sort(key=lambda suspect: abs(suspect.last - first_place))
    return [*suspects[:MAX_SUSPECTS], *paired_suspects[:MAX_SUSPECTS]]


def _find_earliest_opener(broken_text: BrokenText, position: int, open_brackets: Sequence[int]) -> int:
    """Return the earliest place for the partner of a closer: after the bracket around it, at most 12 lines above."""
    earliest = open_brackets[-1] + 1 if open_brackets else 0
    line = broken_text.tokens[position].line
    first = position
    width = broken_text.indentation_width(position)
    while first > earliest and (broken_text.tokens[first].line > line - 12):
        if (
            broken_text.tokens[first].starts_line
            and first < position
            and broken_text.indentation_width(first) <= width
            and broken_text.tokens[first].line < line
        ):
            break
        first -= 1
    return max(earliest, first)
