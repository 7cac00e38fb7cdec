"""What speaks for and against a place of a bracket: the line its partner is on, other calls of the same name, what it encloses."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, Lexeme
from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.syntax.recovery.token_edit import Trial, coarse

Evidence = dict[str, float]
CONDITIONS = frozenset(b"if while for switch catch elif elsif elseif foreach match until unless".split())
"""Words before a condition in brackets."""
CALLABLE = ("word", "close")
WRONG_PARTNER = 3
"""How many lines that are indented wrong a pair of two kinds of brackets counts for."""


class Pairing:
    """The pairs of brackets of a text."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._tokens = scene.tokens

    def closer(self, trial: Trial, name: str, found: Evidence) -> None:
        """What speaks for and against a closer at a place."""
        tokens, gap, opener = self._tokens, trial.at, trial.opener
        after = tokens[gap] if gap < len(tokens) else None
        before = tokens[opener - 1] if opener else None
        if gap == opener + 1:
            found[f"{name} of nothing"] = 1.0
        if after:
            width, own = self._scene.indentation(gap), self._scene.indentation(opener)
            if after.starts_line:
                found[f"{name}: {'dedent below' if width < own else 'dedent' if width == own else 'inside'}"] = 1.0
        suspect = next((one for one in self._scene.suspects if one.at == opener), None)
        if suspect and gap == suspect.last:
            found[f"{name} at the last place"] = 1.0
        if trial.token == b"}":
            return
        commas, operators = _inside(tokens[opener + 1 : gap])
        if before is None:
            return
        glued = before.end == tokens[opener].start
        if before.text in CONDITIONS:
            found["condition before " + (coarse(after) if after else "the end")] = 1.0
        elif before.kind in CALLABLE and glued:
            self._call(trial, commas, found)
        elif trial.token == b")":
            self._group(trial, commas + operators, found)
        elif glued:
            found[f"{name}: {commas} commas"] = float(commas < 2)
        if after and not after.starts_line and after.kind in ("word", "number", "string"):
            found[f"{name} juxtaposed"] = 1.0

    def opener(self, trial: Trial, name: str, found: Evidence) -> None:
        """What speaks for and against an opener at a place; `trial.opener` is the closer without a partner."""
        tokens, gap, closer = self._tokens, trial.at, trial.opener
        before = tokens[gap - 1] if gap else None
        after = tokens[closer + 1] if closer + 1 < len(tokens) else None
        ends = after is None or after.starts_line or after.text == b";"
        if gap == closer:
            found[f"{name} of nothing"] = 1.0
        if closer and tokens[closer - 1].text == tokens[closer].text:
            found[f"{name} for a doubled closer"] = 1.0
        if trial.note in ("split", "half") or before is None or gap >= len(tokens):
            return
        if before.text in CONDITIONS:
            found[f"{name} behind a word before a condition"] = 1.0
        elif before.kind in CALLABLE and before.end == trial.edit.start and not tokens[gap].starts_line:
            commas, _ = _inside(tokens[gap:closer])
            arities = self._arities.get(before.text)
            if arities:
                known = (commas + 1 if closer > gap else 0) in arities
                found[f"{name}: arity as {'elsewhere' if known else 'nowhere'}"] = 1.0
        elif before.text in (b"=", b"return") and ends:
            found[f"{name} around all"] = 1.0

    def deleted_opener(self, trial: Trial, name: str, found: Evidence) -> None:
        """What speaks for and against taking out an opener."""
        at = trial.at
        suspect = next((one for one in self._scene.suspects if one.at == at), None)
        last = suspect.last if suspect else at + 1
        _, operators = _inside(self._tokens[at + 1 : last])
        if at and self._tokens[at - 1].kind == "mark" and operators:
            found[f"delete {name}: of a group between operators"] = 1.0
        if at and self._tokens[at - 1].text in CONDITIONS:
            found[f"delete {name}: of a condition"] = 1.0

    def _call(self, trial: Trial, commas: int, found: Evidence) -> None:
        tokens, gap, opener = self._tokens, trial.at, trial.opener
        name = tokens[opener - 1]
        if name.kind == "word" and (arities := self._arities.get(name.text)):
            count = commas + 1 if gap > opener + 1 else 0
            found["arity as elsewhere" if count in arities else "arity as nowhere"] = 1.0
        text = b"".join(self._scene.data[name.start : tokens[gap - 1].end].split()) + trial.token
        if text in self._compact:
            found["same text elsewhere"] = 1.0

    def _group(self, trial: Trial, marks: int, found: Evidence) -> None:
        tokens, gap, opener = self._tokens, trial.at, trial.opener
        before, after = tokens[opener - 1], tokens[gap] if gap < len(tokens) else None
        if gap == opener + 2:
            found["group of one"] = 1.0
        if not marks:
            found["group without an operator"] = 1.0
        if before.text in (b"=", b"return") and (after is None or after.starts_line or after.text == b";"):
            found["group of all"] = 1.0
        if before.text in (b"=", b"return", b"(", b",", b"=>", b"lambda"):
            found["group at the beginning"] = 1.0

    def out_of_line(self, trial: Trial) -> int:
        """How many closers that begin a line are not indented as the line of their opener, after the edit."""
        brackets = list(self._brackets)
        place = bisect_left(brackets, (trial.at,))
        if trial.action != "insert" and place < len(brackets) and brackets[place][0] == trial.at:
            del brackets[place]
        if trial.action != "delete":
            opens = trial.token in OPENERS
            edit, scene = trial.edit, self._scene
            width, first = 0, b"\n" in edit.new
            if first:
                width = len(edit.new) - len(edit.new.lstrip()) - edit.new.count(b"\n") - edit.new.count(b"\r")
            elif trial.action == "replace":
                width, first = scene.indentation(trial.at), self._tokens[trial.at].starts_line
            else:
                begin = scene.data.rfind(b"\n", 0, edit.start) + 1
                head = scene.data[begin : edit.start]
                first, width = not head.strip(), len(head) - len(head.lstrip())
            brackets.insert(place, (trial.at, OPENERS.get(trial.token, trial.token), opens, width, first))
        out = 0
        waiting: list[tuple[bytes, int]] = []
        for _, closer, opens, width, first in brackets:
            if opens:
                waiting.append((closer, width))
            elif waiting:
                wanted, own = waiting.pop()
                out += (first and width != own) + WRONG_PARTNER * (wanted != closer)
        return out + len(waiting)

    @cached_property
    def _brackets(self) -> list[tuple[int, bytes, bool, int, bool]]:
        """The brackets: which token, which bracket, whether it opens, how far its line is indented, whether it begins the line."""
        found: list[tuple[int, bytes, bool, int, bool]] = []
        width = 0
        for at, token in enumerate(self._tokens):
            if token.starts_line:
                width = self._scene.indentation(at)
            if token.kind == "open":
                found.append((at, OPENERS[token.text[-1:]], True, width, token.starts_line))
            elif token.kind == "close":
                found.append((at, token.text[:1], False, width, token.starts_line))
        return found

    @cached_property
    def _compact(self) -> bytes:
        return b"".join(self._scene.data.split())

    @cached_property
    def _arities(self) -> dict[bytes, set[int]]:
        """The numbers of arguments with which each name is called and defined, where the brackets are closed."""
        found: dict[bytes, set[int]] = {}
        waiting: list[list[int]] = []
        tokens = self._tokens
        suspects = {one.at for one in self._scene.suspects}
        for at, token in enumerate(tokens):
            if token.kind == "open":
                waiting.append([at, 0])
            elif token.kind == "close" and waiting:
                opener, commas = waiting.pop()
                if opener and opener not in suspects and CLOSERS[token.text[:1]] == tokens[opener].text[-1:] == b"(":
                    name = tokens[opener - 1]
                    if name.kind == "word" and name.end == tokens[opener].start:
                        empty = at == opener + 1
                        trailing = tokens[at - 1].text == b","
                        found.setdefault(name.text, set()).add(0 if empty else commas + 1 - trailing)
            elif token.text == b"," and waiting:
                waiting[-1][1] += 1
        return found


def _inside(tokens: Sequence[Lexeme]) -> tuple[int, int]:
    """How many commas and how many operators are between two brackets and in no brackets between."""
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
