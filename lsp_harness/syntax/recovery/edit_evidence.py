"""Evidence for and against an edit of one token, as named observations. `recovery.weights` has the weight of each."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import log, log2

from tree_sitter import Node

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, Lexeme, read_lexemes
from lsp_harness.syntax.recovery.blocks import continues_block
from lsp_harness.syntax.recovery.bracket_evidence import BracketEvidence
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token, neighbor_class, token_class
from lsp_harness.syntax.tree import SyntaxTree, nodes_around

Evidence = dict[str, float]
"""The value of each observation by its name. The names are the keys of `weights.json`."""
LOOKS_LIKE_CODE = re.compile(rb"[,;]\s*[\w$]+\s*[=(\[]|\)\s*[;,{)]|=>|\w\(|, $")
"""Text that looks like code, not like words."""
MAX_LENGTH_BYTES = 60
"""Maximum value of the length of a string."""


def add_quote_evidence(broken_text: BrokenText, trial: Trial, evidence: Evidence) -> None:
    """Add the evidence for an inserted or deleted quote."""
    data, position = broken_text.data, trial.edit.start
    end = trial.edit.end
    previous_byte, next_byte = data[position - 1 : position] if position else b"", data[end : end + 1]
    label = f"{trial.action} {trial.note}"
    evidence[f"{label} after {_character_class(previous_byte)}"] = 1.0
    evidence[f"{label} before {_character_class(next_byte)}"] = 1.0
    line_start = data.rfind(b"\n", 0, position) + 1
    line_end = data.find(b"\n", end)
    line = data[line_start : line_end if line_end >= 0 else len(data)]
    line_before, line_after = data[line_start:position], data[end : line_start + len(line)]
    if not line_before.strip():
        evidence[f"{label} at the start of the line"] = 1.0
    if not line_after.strip():
        evidence[f"{label} at the end of the line"] = 1.0
    quote = trial.token
    if trial.action == "delete":
        evidence[f"{label}: {'doubled' if quote[:1] in (previous_byte, next_byte) else 'single'}"] = 1.0
        others = sum(line.count(other_quote) for other_quote in (b'"', b"'", b"`") if other_quote != quote[:1])
        evidence[f"{label}: others on the line"] = float(others > 0)
    content = (
        line_after.split(quote)[0]
        if trial.note == "opening"
        else line_before.rsplit(quote, 1)[-1]
        if trial.note == "closing"
        else b""
    )
    if trial.note in ("opening", "closing"):
        evidence[f"{label}: balanced"] = float(_is_balanced(content))
        rest = (
            line_before + line_after[len(content) :]
            if trial.note == "opening"
            else line_before[: -len(content) or None] + line_after
        )
        evidence[f"{label}: rest balanced"] = float(_is_balanced(rest))
        evidence[f"{label}: empty"] = float(not content)
        evidence[f"{label}: code inside"] = float(LOOKS_LIKE_CODE.search(content) is not None)
        evidence[f"{label}: length"] = min(len(content), MAX_LENGTH_BYTES) / 10
        whole = quote + content + quote
        evidence[f"{label}: same string elsewhere"] = float(data.count(whole) > 0)
        evidence[f"{label}: blank at an end"] = float(content[:1] == b" " or content[-1:] == b" ")


def _character_class(byte: bytes) -> str:
    if not byte or byte in b"\r\n":
        return "an end"
    if byte.isalnum() or byte == b"_" or byte[0] > 127:
        return "a letter"
    return "a blank" if byte.isspace() else decode_token(byte)


def _is_balanced(text: bytes) -> bool:
    return all(text.count(opener) == text.count(closer) for opener, closer in OPENERS.items())


SMOOTHING = 0.3
"""The count of a row that does not occur in the text."""
POSSIBLE_TOKENS = 20
"""The assumed number of different tokens after two others."""
NEW_LINE = "\n"


class TokenRowCounts:
    """The counts of all rows of three tokens of a text."""

    def __init__(self, tokens: Sequence[Lexeme]) -> None:
        self._tokens = tokens

    def rarity(self, row: Sequence[str]) -> tuple[float, float]:
        """Return how unlikely a row of tokens is after its first two, in nats, and how many of its triples are new.

        A triple is new if it does not occur in the text.
        """
        triples, pairs = self._counts
        total = unseen_rows = 0.0
        for first, second, third in zip(row, row[1:], row[2:], strict=False):
            count = triples[first, second, third]
            unseen_rows += not count
            total -= log((count + SMOOTHING) / (pairs[first, second] + SMOOTHING * POSSIBLE_TOKENS))
        return total, unseen_rows

    def tokens_around(self, trial: Trial) -> list[str]:
        """Return the signs around an edit in the edited text: two on each side, and the new one."""
        tokens, position = self._tokens, trial.position
        skip = 0 if trial.action == "insert" else 1
        left = token_signs(tokens[max(0, position - 2) : position])[-2:]
        right = token_signs(tokens[position + skip : position + skip + 2])
        if (
            skip
            and position + 1 < len(tokens)
            and not tokens[position + 1].starts_line
            and tokens[position].starts_line
        ):
            right = [NEW_LINE, *right]
        inserted = [] if trial.action == "delete" else [decode_token(trial.token)]
        if trial.edit.new.startswith(b"\n"):
            inserted = [NEW_LINE, *inserted]
        return [*left, *inserted, *right][: len(left) + len(inserted) + 2]

    def count_row(self, before: bytes, token: bytes, after: bytes) -> int:
        """Return how often exactly these three tokens stand in a row."""
        return self._rows[before, token, after]

    @cached_property
    def _counts(self) -> tuple[Counter[tuple[str, str, str]], Counter[tuple[str, str]]]:
        row = token_signs(self._tokens)
        return Counter(zip(row, row[1:], row[2:], strict=False)), Counter(pairwise(row))

    @cached_property
    def _rows(self) -> Counter[tuple[bytes, bytes, bytes]]:
        texts = [token.text for token in self._tokens]
        return Counter(zip(texts, texts[1:], texts[2:], strict=False))


def token_signs(tokens: Sequence[Lexeme]) -> list[str]:
    """Return the sign of each token: the text of signs and keywords, the kind of all others, and `\\n` where a line
    begins.
    """
    signs: list[str] = []
    for token in tokens:
        if token.starts_line:
            signs.append(NEW_LINE)
        signs.append(decode_token(token.text) if token.kind in ("keyword", "mark", "open", "close") else token.kind)
    return signs


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
"""Number of tokens of a text from which its statistics count fully."""
OUT_OF_LINE = 6
"""Maximum value of the number of brackets that are not in line with their partners."""
UNUSUAL = 12.0
"""Maximum value of the rarity of a row of tokens."""


class EvidenceCollector:
    """Collects the evidence for edits from the rest of a text."""

    def __init__(self, broken_text: BrokenText) -> None:
        self._broken_text = broken_text
        self._tokens = broken_text.tokens
        self._usage = TokenRowCounts(broken_text.tokens)
        self._bracket_evidence = BracketEvidence(broken_text)
        self._size = min(1.0, len(broken_text.tokens) / MANY_TOKENS)
        """Weight of the statistics of the text. In a short text they mean little."""

    def observe_before_trial(self, trial: Trial) -> Evidence:
        """Return the evidence that is known before an edit is tried."""
        name = token_class(trial)
        evidence: Evidence = {f"{trial.action} {name}": 1.0}
        if trial.note:
            evidence[f"{trial.action} {name}: {trial.note}"] = 1.0
        self._add_distance(trial, evidence)
        if trial.note == "quote" or trial.token[:1] in (b'"', b"'", b"`"):
            add_quote_evidence(self._broken_text, trial, evidence)
            return evidence
        if trial.token == b"indentation":
            return evidence
        rarity, unseen_rows = self._usage.rarity(self._usage.tokens_around(trial))
        evidence["unusual"], evidence["unseen"] = min(rarity, UNUSUAL) * self._size, unseen_rows * self._size
        if trial.action == "insert":
            if 0 < trial.position < len(self._tokens):
                row = self._tokens[trial.position - 1].text, trial.token, self._tokens[trial.position].text
                evidence["written so elsewhere"] = min(log2(1 + self._usage.count_row(*row)), 3.0)
            self._add_neighbors(trial, name, evidence)
            if trial.token in CLOSERS and trial.opener >= 0:
                self._bracket_evidence.add_closer(trial, name, evidence)
            elif trial.token in OPENERS and trial.opener >= 0:
                self._bracket_evidence.add_opener(trial, name, evidence)
            elif trial.token in self._broken_text.language.tokens.block_end_words:
                self._add_end(trial, evidence)
        elif trial.action == "delete":
            self._add_deletion(trial, name, evidence)
            if self._tokens[trial.position].kind == "open":
                self._bracket_evidence.add_deleted_opener(trial, name, evidence)
        return evidence

    def observe_after_trial(self, trial: Trial, tree: SyntaxTree) -> Evidence:
        """Return the evidence from the tree of the text after the edit."""
        evidence: Evidence = {}
        start = trial.edit.start + (len(trial.edit.new) - len(trial.edit.new.lstrip()))
        width = len(trial.edit.new.strip())
        name = token_class(trial)
        nodes = nodes_around(tree.root, start, start + max(width, 1))
        parent = next((node for node in nodes if node.is_named and node.child_count), tree.root)
        if trial.action != "delete" and name != "indentation":
            kind = next((kind for kind, pattern in PARENTS if pattern.search(parent.type)), "other")
            evidence[f"{name} in {kind}"] = 1.0
        new_kinds = {kind for node in nodes[:4] for kind in _node_kinds(node, 40)} - self._broken_text_kinds
        evidence["unknown structure"] = min(len(new_kinds), 4)
        lines = token_signs(read_lexemes(tree, trial.edit.start, trial.edit.start + len(trial.edit.new)))
        rarity, unseen = self._usage.rarity([*lines, NEW_LINE])
        evidence["unusual lines"], evidence["unseen in lines"] = rarity * self._size, unseen * self._size
        if trial.token in CLOSERS or trial.token in OPENERS or trial.token[:1] in OPENERS:
            count = self._bracket_evidence.count_out_of_line(trial)
            evidence["brackets out of line"], evidence["all brackets in line"] = (
                min(count, OUT_OF_LINE),
                float(not count),
            )
        elif name == "end":
            count = _count_ends_out_of_line(tree)
            evidence["ends out of line"], evidence["all ends in line"] = min(count, OUT_OF_LINE), float(not count)
        return evidence

    @cached_property
    def _broken_text_kinds(self) -> set[str]:
        """The node kinds of the broken text."""
        return _node_kinds(self._broken_text.tree.root, 20_000)

    def _add_distance(self, trial: Trial, evidence: Evidence) -> None:
        """Add the distance from the places where a fault is noticed."""
        points = self._broken_text.fault_places
        if not points:
            return
        nearest = min((point - trial.position for point in points), key=abs)
        name = "quote" if trial.token[:1] in (b'"', b"'", b"`") else trial.action
        evidence[f"{name} before the fault" if nearest > 0 else f"{name} behind the fault"] = log2(1 + abs(nearest))
        evidence[f"{name} far from the first"] = log2(1 + abs(points[0] - trial.position))

    def _add_neighbors(self, trial: Trial, name: str, evidence: Evidence) -> None:
        tokens, gap = self._tokens, trial.position
        previous_token = tokens[gap - 1] if gap else None
        next_token = tokens[gap] if gap < len(tokens) else None
        where = (
            "the end" if next_token is None else "a new line" if next_token.starts_line else neighbor_class(next_token)
        )
        evidence[f"{name} before {where}"] = 1.0
        if next_token and next_token.starts_line:
            evidence[f"{name} before a line with {neighbor_class(next_token)}"] = 1.0
        evidence[f"{name} after {neighbor_class(previous_token) if previous_token else 'nothing'}"] = 1.0
        if previous_token:
            end = next_token.start if next_token else len(self._broken_text.data)
            between = self._broken_text.data[previous_token.end : end]
            kind = (
                "glued" if not between else "line" if b"\n" in between else "blank" if len(between) == 1 else "blanks"
            )
            evidence[f"{name}: {kind}"] = 1.0
            if b"\n" in between and between.split(b"\n")[0].strip(b"\r") and not between.split(b"\n")[0].strip():
                evidence[f"{name}: blank at the end of the line"] = 1.0
        if next_token and next_token.starts_line and previous_token:
            extra_indentation = self._broken_text.indentation_width(gap) - self._broken_text.indentation_width(gap - 1)
            depth = "deeper" if extra_indentation > 0 else "as deep" if not extra_indentation else "less deep"
            evidence[f"{name}: next line {depth}"] = 1.0
        if (
            trial.edit.new == trial.token
            and trial.edit.start
            and self._broken_text.data[trial.edit.start - 1 : trial.edit.start].isspace()
            and b"\n" in self._broken_text.data[trial.edit.start : trial.edit.start + 2]
        ):
            evidence[f"{name}: fills a gap of the layout"] = 1.0

    def _add_end(self, trial: Trial, evidence: Evidence) -> None:
        tokens, gap, level = self._tokens, trial.position, trial.opener
        next_token = tokens[gap] if gap < len(tokens) else None
        opener = tokens[level].text
        evidence[f"end of {decode_token(opener)}" if tokens[level].kind == "keyword" else "end of a word"] = 1.0
        if next_token:
            width, level_width = self._broken_text.indentation_width(gap), self._broken_text.indentation_width(level)
            evidence[f"end: {'dedent below' if width < level_width else 'dedent'}"] = 1.0
            evidence[
                f"end before {'closer' if continues_block(next_token, self._broken_text.language) else 'statement'}"
            ] = 1.0

    def _add_deletion(self, trial: Trial, name: str, evidence: Evidence) -> None:
        tokens, position = self._tokens, trial.position
        token = tokens[position]
        previous_token = tokens[position - 1] if position else None
        next_token = tokens[position + 1] if position + 1 < len(tokens) else None
        if any(
            suspect.bracket == position and not suspect.has_partner for suspect in self._broken_text.suspect_brackets
        ):
            evidence[f"delete {name}: no partner"] = 1.0
        is_doubled = (previous_token is not None and previous_token.text == token.text) or (
            next_token is not None and next_token.text == token.text
        )
        evidence[f"delete {name}: {'doubled' if is_doubled else 'single'}"] = 1.0
        if previous_token:
            evidence[f"delete {name} after {neighbor_class(previous_token)}"] = 1.0
        if next_token:
            evidence[
                f"delete {name} before {'a new line' if next_token.starts_line else neighbor_class(next_token)}"
            ] = 1.0
        kind = (
            "blanks"
            if previous_token and next_token and previous_token.end < token.start and token.end < next_token.start
            else "glued"
        )
        evidence[f"delete {name}: {kind}"] = 1.0
        if token.starts_line:
            evidence[f"delete {name}: begins a line"] = 1.0
            if next_token is None or next_token.starts_line:
                evidence[f"delete {name}: alone on a line"] = 1.0
        if token.kind == "close":
            pair = _find_pair(tokens, position)
            if pair >= 0 and pair == position - 1:
                evidence[f"delete {name}: of an empty pair"] = 1.0


def no_edit_evidence(number: int) -> Evidence:
    """Return the evidence against the case that none of `number` edits is right."""
    return {"nothing": 1.0, "nothing beside several": log2(max(number, 1))}


def add_comparisons(observed: Sequence[Evidence]) -> None:
    """Add the evidence from a comparison of the edits: another edit leaves the text better indented."""
    for name in ("brackets out of line", "ends out of line"):
        minimum = min((evidence[name] for evidence in observed if name in evidence), default=0.0)
        for evidence in observed:
            if (excess := evidence.get(name, minimum) - minimum) > 0:
                evidence[f"more {name} than need be"] = 1.0
                evidence[f"how many more {name}"] = excess


def _find_pair(tokens: Sequence[Lexeme], position: int) -> int:
    """Return the index of the opener of a closer, at most 200 tokens before it, or -1."""
    depth = 0
    for n in range(position, max(-1, position - 200), -1):
        if tokens[n].kind == "close":
            depth += 1
        elif tokens[n].kind == "open":
            depth -= 1
            if depth == 0:
                return n
    return -1


def _count_ends_out_of_line(tree: SyntaxTree) -> int:
    """Return how many block ends at the beginning of a line are not indented as the line that begins the block."""
    words = {word.decode() for word in tree.language.tokens.block_end_words}
    data, count = tree.data, 0
    pending = [tree.root]
    while pending:
        node = pending.pop()
        children = node.children
        if children and children[-1].type in words:
            line = data[data.rfind(b"\n", 0, children[-1].start_byte) + 1 : children[-1].start_byte]
            begin = data.rfind(b"\n", 0, node.start_byte) + 1
            head = data[begin : node.start_byte]
            if not line.strip():
                count += len(line) != len(head) - len(head.lstrip())
        pending += (child for child in children if child.child_count)
    return count


def _node_kinds(node: Node, limit: int) -> set[str]:
    kinds: set[str] = set()
    pending = [node]
    while pending and limit:
        limit -= 1
        node = pending.pop()
        kinds.add(node.type)
        pending += node.named_children
    return kinds
