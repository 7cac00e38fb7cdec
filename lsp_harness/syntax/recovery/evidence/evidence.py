"""What speaks for and against an edit of one token, as named observations. `weights` says how much each of them counts."""

import re
from collections.abc import Sequence
from functools import cached_property
from math import log2

from tree_sitter import Node

from lsp_harness.syntax.lexemes import BLOCK_END_WORDS, CLOSERS, OPENERS, Lexeme, read_lexemes
from lsp_harness.syntax.recovery.blocks import goes_on
from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.syntax.recovery.evidence.bracket_evidence import Pairing
from lsp_harness.syntax.recovery.evidence.quote_evidence import quote_evidence
from lsp_harness.syntax.recovery.evidence.token_usage import NEW_LINE, Usage, signs
from lsp_harness.syntax.recovery.token_edit import Trial, class_of, coarse, shown
from lsp_harness.syntax.tree import SyntaxTree, nodes_around

Evidence = dict[str, float]

PARENTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("error", re.compile("ERROR")),
    ("arguments", re.compile("argument")),
    ("parameters", re.compile("parameter")),
    ("sequence", re.compile("sequence_expression|comma_expression|expression_list|pattern_list")),
    ("tuple", re.compile("tuple")),
    ("group", re.compile("parenthesized")),
    ("list", re.compile("list|array|slice|subscript|index")),
    ("pairs", re.compile("dict|object|hash|pair|literal_value|initializer|struct|table|field")),
    ("block", re.compile("block|body|suite|compound|do_|begin")),
    ("label", re.compile("label")),
    ("annotation", re.compile("type|annotation")),
    ("string", re.compile("string|char|quote")),
    ("condition", re.compile("if|while|for|switch|case|conditional|ternary")),
    ("definition", re.compile("function|method|class|lambda|def|declarat")),
    ("assignment", re.compile("assign|declarator|default")),
    ("statement", re.compile("statement|program|module|source")),
)


MANY_TOKENS = 400
"""From so many tokens on a text shows what is usual in it."""
OUT_OF_LINE = 6
"""From so many on it does not matter how many brackets are not in line with their partners."""
UNUSUAL = 12.0
"""From this on it does not matter how unusual tokens are in a row."""


class Judge:
    """What the rest of a text shows about how it is written, and what that says of an edit."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._tokens = scene.tokens
        self._usage = Usage(scene.tokens)
        self._pairing = Pairing(scene)
        self._size = min(1.0, len(scene.tokens) / MANY_TOKENS)
        """How much it says that the text has something nowhere else: in a short one next to nothing."""

    def before(self, trial: Trial) -> Evidence:
        """What can be seen before an edit is tried."""
        name = class_of(trial)
        found: Evidence = {f"{trial.action} {name}": 1.0}
        if trial.note:
            found[f"{trial.action} {name}: {trial.note}"] = 1.0
        self._distance(trial, found)
        if trial.note == "quote" or trial.token[:1] in (b'"', b"'", b"`"):
            quote_evidence(self._scene, trial, found)
            return found
        if trial.token == b"indentation":
            return found
        rarity, unseen = self._usage.rarity(self._usage.around(trial))
        found["unusual"], found["unseen"] = min(rarity, UNUSUAL) * self._size, unseen * self._size
        if trial.action == "insert":
            if 0 < trial.at < len(self._tokens):
                row = self._tokens[trial.at - 1].text, trial.token, self._tokens[trial.at].text
                found["written so elsewhere"] = min(log2(1 + self._usage.times(*row)), 3.0)
            self._neighbours(trial, name, found)
            if trial.token in CLOSERS and trial.opener >= 0:
                self._pairing.closer(trial, name, found)
            elif trial.token in OPENERS and trial.opener >= 0:
                self._pairing.opener(trial, name, found)
            elif trial.token in BLOCK_END_WORDS.get(self._scene.language, ()):
                self._end(trial, found)
        elif trial.action == "delete":
            self._deleted(trial, name, found)
            if self._tokens[trial.at].kind == "open":
                self._pairing.deleted_opener(trial, name, found)
        return found

    def after(self, trial: Trial, tree: SyntaxTree) -> Evidence:
        """What the tree of the text with the edit shows."""
        found: Evidence = {}
        start = trial.edit.start + (len(trial.edit.new) - len(trial.edit.new.lstrip()))
        width = len(trial.edit.new.strip())
        name = class_of(trial)
        nodes = nodes_around(tree.root, start, start + max(width, 1))
        parent = next((node for node in nodes if node.is_named and node.child_count), tree.root)
        if trial.action != "delete" and name != "indentation":
            kind = next((kind for kind, pattern in PARENTS if pattern.search(parent.type)), "other")
            found[f"{name} in {kind}"] = 1.0
        new = {kind for node in nodes[:4] for kind in _kinds(node, 40)} - self._known
        found["unknown structure"] = min(len(new), 4)
        lines = signs(read_lexemes(tree, trial.edit.start, trial.edit.start + len(trial.edit.new)))
        rarity, unseen = self._usage.rarity([*lines, NEW_LINE])
        found["unusual lines"], found["unseen in lines"] = rarity * self._size, unseen * self._size
        if trial.token in CLOSERS or trial.token in OPENERS or trial.token[:1] in OPENERS:
            out = self._pairing.out_of_line(trial)
            found["brackets out of line"], found["all brackets in line"] = min(out, OUT_OF_LINE), float(not out)
        elif name == "end":
            out = _ends_out_of_line(tree)
            found["ends out of line"], found["all ends in line"] = min(out, OUT_OF_LINE), float(not out)
        return found

    @cached_property
    def _known(self) -> set[str]:
        """The kinds of the nodes of the broken text."""
        return _kinds(self._scene.tree.root, 20_000)

    def _distance(self, trial: Trial, found: Evidence) -> None:
        """How far from where a fault is noticed."""
        points = self._scene.points
        if not points:
            return
        nearest = min((point - trial.at for point in points), key=abs)
        name = "quote" if trial.token[:1] in (b'"', b"'", b"`") else trial.action
        found[f"{name} before the fault" if nearest > 0 else f"{name} behind the fault"] = log2(1 + abs(nearest))
        found[f"{name} far from the first"] = log2(1 + abs(points[0] - trial.at))

    def _neighbours(self, trial: Trial, name: str, found: Evidence) -> None:
        tokens, gap = self._tokens, trial.at
        before = tokens[gap - 1] if gap else None
        after = tokens[gap] if gap < len(tokens) else None
        where = "the end" if after is None else "a new line" if after.starts_line else coarse(after)
        found[f"{name} before {where}"] = 1.0
        if after and after.starts_line:
            found[f"{name} before a line with {coarse(after)}"] = 1.0
        found[f"{name} after {coarse(before) if before else 'nothing'}"] = 1.0
        if before:
            end = after.start if after else len(self._scene.data)
            between = self._scene.data[before.end : end]
            kind = (
                "glued" if not between else "line" if b"\n" in between else "blank" if len(between) == 1 else "blanks"
            )
            found[f"{name}: {kind}"] = 1.0
            if b"\n" in between and between.split(b"\n")[0].strip(b"\r") and not between.split(b"\n")[0].strip():
                found[f"{name}: blank at the end of the line"] = 1.0
        if after and after.starts_line and before:
            deeper = self._scene.indentation(gap) - self._scene.indentation(gap - 1)
            found[f"{name}: next line {'deeper' if deeper > 0 else 'as deep' if not deeper else 'less deep'}"] = 1.0
        if (
            trial.edit.new == trial.token
            and trial.edit.start
            and self._scene.data[trial.edit.start - 1 : trial.edit.start].isspace()
            and b"\n" in self._scene.data[trial.edit.start : trial.edit.start + 2]
        ):
            found[f"{name}: fills a gap of the layout"] = 1.0

    def _end(self, trial: Trial, found: Evidence) -> None:
        tokens, gap, level = self._tokens, trial.at, trial.opener
        after = tokens[gap] if gap < len(tokens) else None
        opener = tokens[level].text
        found[f"end of {shown(opener)}" if tokens[level].kind == "keyword" else "end of a word"] = 1.0
        if after:
            width, own = self._scene.indentation(gap), self._scene.indentation(level)
            found[f"end: {'dedent below' if width < own else 'dedent'}"] = 1.0
            found[f"end before {'closer' if goes_on(after, self._scene.language) else 'statement'}"] = 1.0

    def _deleted(self, trial: Trial, name: str, found: Evidence) -> None:
        tokens, at = self._tokens, trial.at
        token = tokens[at]
        before = tokens[at - 1] if at else None
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if any(one.at == at and not one.by_indentation for one in self._scene.suspects):
            found[f"delete {name}: no partner"] = 1.0
        twin = (before is not None and before.text == token.text) or (after is not None and after.text == token.text)
        found[f"delete {name}: {'doubled' if twin else 'single'}"] = 1.0
        if before:
            found[f"delete {name} after {coarse(before)}"] = 1.0
        if after:
            found[f"delete {name} before {'a new line' if after.starts_line else coarse(after)}"] = 1.0
        kind = "blanks" if before and after and before.end < token.start and token.end < after.start else "glued"
        found[f"delete {name}: {kind}"] = 1.0
        if token.starts_line:
            found[f"delete {name}: begins a line"] = 1.0
            if after is None or after.starts_line:
                found[f"delete {name}: alone on a line"] = 1.0
        if token.kind == "close":
            pair = _pair(tokens, at)
            if pair >= 0 and pair == at - 1:
                found[f"delete {name}: of an empty pair"] = 1.0


def alternative(number: int) -> Evidence:
    """What is observed of the case that none of so many edits is what was meant."""
    return {"nothing": 1.0, "nothing beside several": log2(max(number, 1))}


def compare(observed: Sequence[Evidence]) -> None:
    """Add to what was observed of each edit what only shows beside the others: that another one leaves the text better indented."""
    for name in ("brackets out of line", "ends out of line"):
        least = min((found[name] for found in observed if name in found), default=0.0)
        for found in observed:
            if (more := found.get(name, least) - least) > 0:
                found[f"more {name} than need be"] = 1.0
                found[f"how many more {name}"] = more


def _pair(tokens: Sequence[Lexeme], at: int) -> int:
    depth = 0
    for n in range(at, max(-1, at - 200), -1):
        if tokens[n].kind == "close":
            depth += 1
        elif tokens[n].kind == "open":
            depth -= 1
            if depth == 0:
                return n
    return -1


def _ends_out_of_line(tree: SyntaxTree) -> int:
    """How many words that end a block and begin a line are not indented as the line on which the block begins."""
    words = {word.decode() for word in BLOCK_END_WORDS.get(tree.language.id, ())}
    data, out = tree.data, 0
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        children = node.children
        if children and children[-1].type in words:
            line = data[data.rfind(b"\n", 0, children[-1].start_byte) + 1 : children[-1].start_byte]
            begin = data.rfind(b"\n", 0, node.start_byte) + 1
            head = data[begin : node.start_byte]
            if not line.strip():
                out += len(line) != len(head) - len(head.lstrip())
        waiting += (child for child in children if child.child_count)
    return out


def _kinds(node: Node, limit: int) -> set[str]:
    found: set[str] = set()
    waiting = [node]
    while waiting and limit:
        limit -= 1
        node = waiting.pop()
        found.add(node.type)
        waiting += node.named_children
    return found
