"""A text that does not parse, its tokens, and the places where the fault may be.

An LR parser notices a fault at the first token that cannot follow, so the fault is there or before. What the parser then gave up
on begins and ends somewhere near; which bracket has no partner, and where the indentation goes back too early, say more.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lsp_harness.syntax.lexemes import CLOSERS, Lexeme, read_lexemes
from lsp_harness.syntax.recovery.blocks import goes_on, odd_lines
from lsp_harness.syntax.recovery.error_lines import Pieces
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.syntax.tree_query import captures

POINTS = 8
"""How many places that the parser names are looked at."""
NEAR_POINTS = 14
"""Around how many of them any token is doubted."""
NEAR_TOKENS = 80
"""How many tokens before and behind such a place."""
SUSPECTS = 6
"""How many brackets without a partner are looked at."""


class Suspect(NamedTuple):
    """A bracket that may have lost its partner, and between which tokens the partner may belong.

    `at` is the bracket, `first` and `last` are the first and last token before which the partner may be inserted.
    `by_indentation`: the bracket has a partner, but the lines between are not indented as if it were this one.
    """

    at: int
    first: int
    last: int
    by_indentation: bool


@dataclass(frozen=True)
class Scene:
    """What is known about a broken text before anything is tried. `start` and `end` are the range of the finding."""

    tree: SyntaxTree
    start: int
    end: int

    @property
    def data(self) -> bytes:
        return self.tree.data

    @property
    def language(self) -> str:
        return self.tree.language.id

    @cached_property
    def tokens(self) -> Sequence[Lexeme]:
        return read_lexemes(self.tree)

    @cached_property
    def starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    @cached_property
    def points(self) -> list[int]:
        """Indices of the tokens at which a fault is noticed, those the parser names first."""
        offsets: list[int] = []
        if self.language == "python" and (fault := find_python_fault(self.data)):
            offsets += [fault.start, fault.end] if b"\n" not in self.data[fault.start : fault.end] else [fault.start]
        waiting = [self.tree.root]
        while waiting and len(offsets) < 2 * POINTS:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                offsets += [node.start_byte, node.end_byte]
            if node.has_error:
                waiting += reversed(node.children)
        forgiven = captures(self.tree.language, "faults", self.tree.root).get("fault", [])
        offsets += [node.start_byte for node in forgiven[:POINTS]]
        offsets += [self.start]
        offsets += [self._line_start(number) for number in self._broken_lines()[:POINTS]]
        last = len(self.tokens) - 1
        odd = list(odd_lines(self.tokens, self.indentation, self.language))[:POINTS]
        return list(dict.fromkeys([*(min(self.token_at(offset), last) for offset in offsets), *odd]))

    def _line_start(self, number: int) -> int:
        start, end = self.tree.document.line_span(number)
        return end - len(self.data[start:end].lstrip())

    def _broken_lines(self) -> list[int]:
        """The lines of the innermost block that does not parse on its own."""
        document = self.tree.document
        lines = [document.line(number) for number in range(len(document.starts))]
        going = [False] * len(lines)
        for token in self.tokens:
            if token.starts_line:
                going[token.line] = goes_on(token, self.language)
        return Pieces(self.tree.language, lines, going).broken(0, len(lines))

    def token_at(self, offset: int) -> int:
        """The first token that does not end before an offset."""
        at = bisect_left(self.starts, offset)
        return at - 1 if at and self.tokens[at - 1].end > offset else at

    @cached_property
    def near(self) -> list[int]:
        """Tokens on the lines where faults are noticed and on the lines of code before and after those, the nearest first."""
        found: dict[int, None] = {}
        for reach in (0, 1):
            for point in self.points[:NEAR_POINTS]:
                first, last = self.line_of(point - 1 if point else 0), self.line_of(point)
                begin, end = first.start, last.stop
                if reach and begin:
                    begin = self.line_of(begin - 1).start
                if reach and end < len(self.tokens):
                    end = self.line_of(end).stop
                # a line may be as long as the text
                begin, end = max(begin, point - NEAR_TOKENS), min(end, point + NEAR_TOKENS)
                found.update(dict.fromkeys(range(begin, end)))
        return list(found)

    def line_of(self, at: int) -> range:
        """The tokens of the line that a token is on."""
        first = at
        while first and not self.tokens[first].starts_line:
            first -= 1
        last = at + 1
        while last < len(self.tokens) and not self.tokens[last].starts_line:
            last += 1
        return range(first, last)

    def indentation(self, at: int) -> int:
        """The width of the indentation of the line that a token is on."""
        begin = self.data.rfind(b"\n", 0, self.tokens[at].start) + 1
        line = self.data[begin : self.tokens[at].end]
        return len(line) - len(line.lstrip(b" \t"))

    def lead(self, at: int) -> bytes:
        """The indentation of the line that a token is on."""
        begin = self.data.rfind(b"\n", 0, self.tokens[at].start) + 1
        return self.data[begin : begin + self.indentation(at)]

    @cached_property
    def suspects(self) -> list[Suspect]:
        """Openers and closers that may have lost their partner."""
        return _suspects(self)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Names and keywords of the text."""
        return frozenset(token.text for token in self.tokens if token.kind in ("word", "keyword"))


def _suspects(scene: Scene) -> list[Suspect]:
    tokens, found, doubted = scene.tokens, list[Suspect](), list[Suspect]()
    waiting: list[int] = []
    indents: dict[int, int] = {}
    """The indentation of the line of each opener that waits for its closer."""
    doubts: dict[int, int] = {}
    width = 0
    for at, token in enumerate(tokens):
        if token.starts_line:
            width = scene.indentation(at)
            going = goes_on(token, scene.language)
            for opener in reversed(waiting):
                if opener in doubts or width > indents[opener] or (going and width == indents[opener]):
                    break
                # the line is indented as if the opener had its closer already
                if opener != at - 1 or token.kind != "close":
                    doubts[opener] = at
        if token.kind == "open":
            waiting.append(at)
            indents[at] = width
        elif token.kind == "close":
            wanted = CLOSERS[token.text[:1]]
            partner = next((i for i in range(len(waiting) - 1, -1, -1) if tokens[waiting[i]].text[-1:] == wanted), -1)
            if partner < 0:
                found.append(Suspect(at, _beginning(scene, at, waiting), at, False))
                continue
            for opener in waiting[partner + 1 :]:
                found.append(Suspect(opener, opener + 1, min(doubts.get(opener, at), at), False))
            if ((opener := waiting[partner]) in doubts and token.starts_line) or opener in doubts:
                doubted.append(Suspect(opener, opener + 1, doubts[opener], True))
            elif token.starts_line and width != indents[opener] and wanted == b"{":
                doubted.append(Suspect(at, _beginning(scene, at, waiting[:partner]), at, True))
            del waiting[partner:]
    found += [Suspect(opener, opener + 1, doubts.get(opener, len(tokens)), False) for opener in waiting]
    near = scene.points[0] if scene.points else 0
    found.sort(key=lambda one: (abs(one.last - near), one.at))
    doubted.sort(key=lambda one: abs(one.last - near))
    return [*found[:SUSPECTS], *doubted[:SUSPECTS]]


def _beginning(scene: Scene, at: int, waiting: Sequence[int]) -> int:
    """Where the partner of a closer at the earliest is: behind the opener around it, and on this line or a few lines before."""
    earliest = waiting[-1] + 1 if waiting else 0
    line = scene.tokens[at].line
    first = at
    width = scene.indentation(at)
    while first > earliest and (scene.tokens[first].line > line - 12):
        if (
            scene.tokens[first].starts_line
            and first < at
            and scene.indentation(first) <= width
            and scene.tokens[first].line < line
        ):
            break
        first -= 1
    return max(earliest, first)
