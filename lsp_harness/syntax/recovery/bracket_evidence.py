"""Evidence for the place of a bracket: the line of its partner, other calls of the same name, and the text that it
encloses.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, Lexeme
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial, neighbor_class

Evidence = dict[str, float]
CONDITION_WORDS = frozenset(b"if while for switch catch elif elsif elseif foreach match until unless".split())
"""Words before a condition in brackets."""
CALLABLE_KINDS = ("word", "close")
WRONG_PARTNER_LINES = 3
"""A pair of two kinds of brackets counts as this many lines with wrong indentation."""


class BracketEvidence:
    """Adds evidence from the pairs of brackets of a text."""

    def __init__(self, broken_text: BrokenText) -> None:
        self._broken_text = broken_text
        self._tokens = broken_text.tokens

    def add_closer(self, trial: Trial, name: str, evidence: Evidence) -> None:
        """Add the evidence for an inserted closer. `name` is the class of its token."""
        tokens, gap, opener = self._tokens, trial.position, trial.opener
        next_token = tokens[gap] if gap < len(tokens) else None
        previous_token = tokens[opener - 1] if opener else None
        if gap == opener + 1:
            evidence[f"{name} of nothing"] = 1.0
        if next_token:
            width, opener_width = self._broken_text.indentation_width(gap), self._broken_text.indentation_width(opener)
            if next_token.starts_line:
                place = "dedent below" if width < opener_width else "dedent" if width == opener_width else "inside"
                evidence[f"{name}: {place}"] = 1.0
        suspect = next((suspect for suspect in self._broken_text.suspect_brackets if suspect.bracket == opener), None)
        if suspect and gap == suspect.last:
            evidence[f"{name} at the last place"] = 1.0
        if trial.token == b"}":
            return
        commas, operators = _count_between(tokens[opener + 1 : gap])
        if previous_token is None:
            return
        is_adjacent = previous_token.end == tokens[opener].start
        if previous_token.text in CONDITION_WORDS:
            evidence["condition before " + (neighbor_class(next_token) if next_token else "the end")] = 1.0
        elif previous_token.kind in CALLABLE_KINDS and is_adjacent:
            self._add_call(trial, commas, evidence)
        elif trial.token == b")":
            self._add_group(trial, commas + operators, evidence)
        elif is_adjacent:
            evidence[f"{name}: {commas} commas"] = float(commas < 2)
        if next_token and not next_token.starts_line and next_token.kind in ("word", "number", "string"):
            evidence[f"{name} juxtaposed"] = 1.0

    def add_opener(self, trial: Trial, name: str, evidence: Evidence) -> None:
        """Add the evidence for an inserted opener. `trial.opener` is the closer without a partner."""
        tokens, gap, closer = self._tokens, trial.position, trial.opener
        previous_token = tokens[gap - 1] if gap else None
        next_token = tokens[closer + 1] if closer + 1 < len(tokens) else None
        is_last_on_line = next_token is None or next_token.starts_line or next_token.text == b";"
        if gap == closer:
            evidence[f"{name} of nothing"] = 1.0
        if closer and tokens[closer - 1].text == tokens[closer].text:
            evidence[f"{name} for a doubled closer"] = 1.0
        if trial.note in ("split", "half") or previous_token is None or gap >= len(tokens):
            return
        if previous_token.text in CONDITION_WORDS:
            evidence[f"{name} behind a word before a condition"] = 1.0
        elif (
            previous_token.kind in CALLABLE_KINDS
            and previous_token.end == trial.edit.start
            and not tokens[gap].starts_line
        ):
            commas, _ = _count_between(tokens[gap:closer])
            arities = self._arities.get(previous_token.text)
            if arities:
                is_known_arity = (commas + 1 if closer > gap else 0) in arities
                evidence[f"{name}: arity as {'elsewhere' if is_known_arity else 'nowhere'}"] = 1.0
        elif previous_token.text in (b"=", b"return") and is_last_on_line:
            evidence[f"{name} around all"] = 1.0

    def add_deleted_opener(self, trial: Trial, name: str, evidence: Evidence) -> None:
        """Add the evidence for the deletion of an opener."""
        position = trial.position
        suspect = next((suspect for suspect in self._broken_text.suspect_brackets if suspect.bracket == position), None)
        last = suspect.last if suspect else position + 1
        _, operators = _count_between(self._tokens[position + 1 : last])
        if position and self._tokens[position - 1].kind == "mark" and operators:
            evidence[f"delete {name}: of a group between operators"] = 1.0
        if position and self._tokens[position - 1].text in CONDITION_WORDS:
            evidence[f"delete {name}: of a condition"] = 1.0

    def _add_call(self, trial: Trial, commas: int, evidence: Evidence) -> None:
        tokens, gap, opener = self._tokens, trial.position, trial.opener
        name = tokens[opener - 1]
        if name.kind == "word" and (arities := self._arities.get(name.text)):
            count = commas + 1 if gap > opener + 1 else 0
            evidence["arity as elsewhere" if count in arities else "arity as nowhere"] = 1.0
        call_text = b"".join(self._broken_text.data[name.start : tokens[gap - 1].end].split()) + trial.token
        if call_text in self._compact:
            evidence["same text elsewhere"] = 1.0

    def _add_group(self, trial: Trial, marks: int, evidence: Evidence) -> None:
        tokens, gap, opener = self._tokens, trial.position, trial.opener
        previous_token, next_token = tokens[opener - 1], tokens[gap] if gap < len(tokens) else None
        if gap == opener + 2:
            evidence["group of one"] = 1.0
        if not marks:
            evidence["group without an operator"] = 1.0
        if previous_token.text in (b"=", b"return") and (
            next_token is None or next_token.starts_line or next_token.text == b";"
        ):
            evidence["group of all"] = 1.0
        if previous_token.text in (b"=", b"return", b"(", b",", b"=>", b"lambda"):
            evidence["group at the beginning"] = 1.0

    def count_out_of_line(self, trial: Trial) -> int:
        """Return how many closers at the beginning of a line are not indented as the line of their opener, after the
        edit.
        """
        brackets = list(self._brackets)
        place = bisect_left(brackets, (trial.position,))
        if trial.action != "insert" and place < len(brackets) and brackets[place][0] == trial.position:
            del brackets[place]
        if trial.action != "delete":
            is_opener = trial.token in OPENERS
            edit, broken_text = trial.edit, self._broken_text
            width, begins_line = 0, b"\n" in edit.new
            if begins_line:
                width = len(edit.new) - len(edit.new.lstrip()) - edit.new.count(b"\n") - edit.new.count(b"\r")
            elif trial.action == "replace":
                width, begins_line = (
                    broken_text.indentation_width(trial.position),
                    self._tokens[trial.position].starts_line,
                )
            else:
                begin = broken_text.data.rfind(b"\n", 0, edit.start) + 1
                head = broken_text.data[begin : edit.start]
                begins_line, width = not head.strip(), len(head) - len(head.lstrip())
            brackets.insert(
                place, (trial.position, OPENERS.get(trial.token, trial.token), is_opener, width, begins_line)
            )
        count = 0
        open_brackets: list[tuple[bytes, int]] = []
        for _, closer, is_opener, width, begins_line in brackets:
            if is_opener:
                open_brackets.append((closer, width))
            elif open_brackets:
                expected, opener_width = open_brackets.pop()
                count += (begins_line and width != opener_width) + WRONG_PARTNER_LINES * (expected != closer)
        return count + len(open_brackets)

    @cached_property
    def _brackets(self) -> list[tuple[int, bytes, bool, int, bool]]:
        """The brackets: the token, the closer, whether it opens, the indentation of its line, and whether it begins the
        line.
        """
        brackets: list[tuple[int, bytes, bool, int, bool]] = []
        width = 0
        for position, token in enumerate(self._tokens):
            if token.starts_line:
                width = self._broken_text.indentation_width(position)
            if token.kind == "open":
                brackets.append((position, OPENERS[token.text[-1:]], True, width, token.starts_line))
            elif token.kind == "close":
                brackets.append((position, token.text[:1], False, width, token.starts_line))
        return brackets

    @cached_property
    def _compact(self) -> bytes:
        return b"".join(self._broken_text.data.split())

    @cached_property
    def _arities(self) -> dict[bytes, set[int]]:
        """The numbers of arguments with which each name is called and defined, where the brackets have partners."""
        arities: dict[bytes, set[int]] = {}
        open_brackets: list[list[int]] = []
        tokens = self._tokens
        suspects = {suspect.bracket for suspect in self._broken_text.suspect_brackets}
        for position, token in enumerate(tokens):
            if token.kind == "open":
                open_brackets.append([position, 0])
            elif token.kind == "close" and open_brackets:
                opener, commas = open_brackets.pop()
                if opener and opener not in suspects and CLOSERS[token.text[:1]] == tokens[opener].text[-1:] == b"(":
                    name = tokens[opener - 1]
                    if name.kind == "word" and name.end == tokens[opener].start:
                        is_empty = position == opener + 1
                        has_trailing_comma = tokens[position - 1].text == b","
                        arities.setdefault(name.text, set()).add(0 if is_empty else commas + 1 - has_trailing_comma)
            elif token.text == b"," and open_brackets:
                open_brackets[-1][1] += 1
        return arities


def _count_between(tokens: Sequence[Lexeme]) -> tuple[int, int]:
    """Return the numbers of commas and operators between two brackets, outside of inner brackets."""
    depth = commas = operators = 0
    for token in tokens:
        if token.kind == "open":
            depth += 1
        elif token.kind == "close":
            depth -= 1
        elif depth == 0 and token.text == b",":
            commas += 1
        elif depth == 0 and token.kind == "mark":
            operators += 1
    return commas, operators
