"""The changes that the repair of a linter's rule may make.

Such a rule asks for other code with the same effect, so tokens at the diagnostic may be replaced by others. The data
that the code uses, the ways in which it ends, its comments, and the sense and order of its conditions must stay.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from lsp_harness.knowledge.stdlib_tables import load_standard
from lsp_harness.syntax import scope
from lsp_harness.syntax.names.occurrences import find_occurrences, occurrence_at
from lsp_harness.syntax.symbols.evaluation_steps import Step, count_negations, find_step_region, has_try, read_steps
from lsp_harness.syntax.tokens import Token
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, encode
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding_subject import Subject, find_suggestions
from lsp_harness.verify.preservation.allowed_changes import find_lost_bindings, is_in
from lsp_harness.verify.preservation.token_difference import TokenDifference, describe_tokens


def check_evaluation_order(change: Change) -> str:
    """Return what a change puts into another order, as a phrase, or an empty text.

    Conditions that are there once before and after must keep their order. So must values and calls, unless the change
    writes a new condition or negates one, or there is a `try`, whose parts do not run in the order of the text.
    """
    before, after = change.tree_before, change.tree_after
    if before is None or after is None or not change.edits:
        return ""
    first = min(edit.start for edit in change.edits)
    last = max(edit.end for edit in change.edits)
    growth = len(change.after.data) - len(change.before.data)
    region_before, region_after = find_step_region(before, first, last), find_step_region(after, first, last + growth)
    old, new = read_steps(before, region_before), read_steps(after, region_after)
    if old is None or new is None:
        return ""
    if phrase := _find_exchange([step for step in old if step.is_condition], new):
        return f"asks the conditions {phrase} in another order"
    asked = Counter(step.text for step in old if step.is_condition)
    is_new_question = any(step.is_condition and step.text not in asked for step in new)
    if is_new_question or count_negations(before, region_before) != count_negations(after, region_after):
        return ""
    if has_try(before, region_before) or has_try(after, region_after):
        return ""
    phrase = _find_exchange(old, new)
    return phrase and f"puts {phrase} into another order"


def _find_exchange(old: Sequence[Step], new: Sequence[Step]) -> str:
    """Return two steps that are in another order in the new code, or an empty text."""
    counts = [Counter(step.text for step in steps) for steps in (old, new)]
    places = {step.text: index for index, step in enumerate(new)}
    shared = [step.text for step in old if counts[0][step.text] == counts[1][step.text] == 1]
    for one, other in pairwise(shared):
        if places[one] > places[other]:
            return f"`{one}` and `{other}`"
    return ""


ENDING_KEYWORDS = frozenset({"return", "raise", "throw", "yield", "await", "break", "continue"})
"""Keywords that end a function or a loop, or wait."""
STANDING_FOR: dict[str, str] = {"return": "lambda", "raise": "assert"}
"""Keyword → the keyword that it may replace: `f = lambda: 1` is `def f(): return 1`."""
BRANCH_KEYWORDS = frozenset({"if", "elif", "else", "for", "while", "lambda", "unless", "switch", "match", "try"})
EMPTY_VALUES = frozenset({"None", "null", "nil", "undefined", "pass"})
CONJUNCTIONS, DISJUNCTIONS = frozenset({"and", "&&"}), frozenset({"or", "||"})
NEGATIONS = frozenset({"not", "!", "!=", "!==", "<>"})
REMOVAL_MESSAGE = re.compile(r"\b(?:empty|separator|duplicate\w*|redundant|unused|default)\b", re.IGNORECASE)
"""A message about a value that is not needed."""
WORD = re.compile(r"\w+")
QUOTED_CODE = re.compile(r"`[^`]*`")


def check_rule_repair(subject: Subject, difference: TokenDifference, change: Change) -> str:
    """Allow other code at the finding that uses the same data.

    Outside of the statement of the finding, names, literals, comments and control keywords must stay.
    """
    before, after = change.tree_before, change.tree_after
    assert before
    assert after
    if comments := difference.describe_lost_comments():
        return comments
    lost = [token for token in difference.lost_tokens() if token.kind not in ("separator", "operator")]
    region = _find_region(before, subject)
    if others := [token for token in lost if not is_in(region, token) and token.text not in subject.quoted]:
        return describe_tokens("drops", others, difference.before)
    if bindings := find_lost_bindings(subject, change):
        return f"drops {', '.join(f'`{name}`' for name in bindings)}, which the finding is not about"
    names = [token for token in lost if token.kind == "name" and not _is_kept(token, difference)]
    if names and not any(token.kind == "name" for token in difference.after):
        return describe_tokens("drops", names, difference.before)
    if missing := [token for token in names if not _may_vanish(token, subject, before, region)]:
        return describe_tokens("drops", missing, difference.before)
    if _is_suggested(subject, difference):
        return ""
    return (
        _check_literals(subject, difference)
        or _check_placeholders(subject, difference)
        or _check_endings(subject, difference)
        or _check_sense(subject, difference)
        or check_evaluation_order(change)
    )


def _find_region(tree: SyntaxTree, subject: Subject) -> Span:
    """Return the lines of the statement of the finding."""
    document, (start, end) = tree.document, subject.reported
    start, end = min(start, subject.span.start), max(end, subject.span.end)
    if statement := scope.statement_at(tree, start, end):
        start, end = min(start, statement.start), max(end, statement.end)
    first, last = document.line_of(start), document.line_of(max(start, end - 1))
    return Span(document.line_span(first)[0], document.line_span(last)[1])


def _has(tokens: Iterable[Token], wanted: Token) -> bool:
    return any((token.kind, token.text) == (wanted.kind, wanted.text) for token in tokens)


def _is_kept(token: Token, difference: TokenDifference) -> bool:
    """Return whether the edited lines still have a replaced token, perhaps as a token of another kind.

    The literal of `getattr(a, "b")` is a name in `a.b`. A name that was there before does not stand for a literal.
    """
    return _has(difference.after, token) or any(token.text == gained.text for gained in difference.gained_tokens())


def _may_vanish(token: Token, subject: Subject, tree: SyntaxTree, region: Span) -> bool:
    """Return whether a name need not be used any more.

    This is the case for names of the message, for names that only the statement binds, such as the variable of a
    comprehension, and for members, named arguments and names of the language in the range of the finding.
    """
    if token.text in subject.quoted or token.text in WORD.findall(QUOTED_CODE.sub("", subject.message)):
        return True
    if _is_local(tree, region, token.text):
        return True
    if not is_in(subject.reported, token):
        return False
    if token.text in load_standard(tree.language.id).globals:
        return token.text in WORD.findall(subject.message)
    occurrence = occurrence_at(tree, Span(token.start, token.end))
    is_replaceable = occurrence is not None and occurrence.role in ("member", "key", "import", "type")
    return is_replaceable or _is_imported(tree, token.text)


def _is_local(tree: SyntaxTree, region: Span, name: str) -> bool:
    """Return whether the statement binds a name that nothing behind it uses."""
    uses = list(find_occurrences(tree, name))
    is_bound = any(use.is_binding and region.start <= use.span.start < region.end for use in uses)
    return is_bound and all(use.span.start < region.end for use in uses)


def _is_imported(tree: SyntaxTree, name: str) -> bool:
    return any(
        encode(name) in re.findall(rb"\w+", tree.data[span.start : span.end]) for span in scope.find_imports(tree)
    )


def _check_literals(subject: Subject, difference: TokenDifference) -> str:
    """Return the literals that no other literal replaces."""
    words = WORD.findall(subject.message)
    missing: list[Token] = []
    for replacement in difference.replacements:
        lost = [token for token in replacement.old if token.kind == "literal" and not _is_kept(token, difference)]
        missing += lost[sum(token.kind == "literal" for token in replacement.new) :]
    missing = [token for token in missing if token.text not in words]
    if REMOVAL_MESSAGE.search(subject.message):
        missing = [token for token in missing if not is_in(subject.reported, token)]
    return describe_tokens("drops", missing, difference.before)


def _check_placeholders(subject: Subject, difference: TokenDifference) -> str:
    """Return the empty values that replace code."""
    added = [
        token
        for replacement in difference.replacements
        if any(token.kind in ("name", "literal") for token in replacement.old)
        for token in replacement.new
        if token.text in EMPTY_VALUES and token.text not in WORD.findall(subject.message)
    ]
    return describe_tokens("adds", [token for token in added if not _has(difference.before, token)], difference.after)


def _check_endings(subject: Subject, difference: TokenDifference) -> str:
    """Return the keywords that the code no longer has, or has only now, and that decide where it ends."""
    before, after = ({token.text for token in side} for side in (difference.before, difference.after))
    lost = [token for token in difference.before if token.text in ENDING_KEYWORDS - after]
    if lost:
        return describe_tokens("drops", lost, difference.before)
    gained = [
        token
        for token in difference.after
        if token.text in ENDING_KEYWORDS - before
        and token.text not in WORD.findall(subject.message)
        and STANDING_FOR.get(token.text) not in before - after
    ]
    return describe_tokens("adds", gained, difference.after)


def _check_sense(subject: Subject, difference: TokenDifference) -> str:
    """Return an objection if conditions mean the opposite: `and` for `or`, or one `not` too few.

    If branches or loops change, too, the number of negations says nothing.
    """
    lost, gained = (_count_words(tokens) for tokens in (difference.old, difference.new))
    lost, gained = lost - gained, gained - lost
    if any(lost[word] or gained[word] for word in BRANCH_KEYWORDS):
        is_joined = _sum_counts(gained, DISJUNCTIONS) and not DISJUNCTIONS & set(WORD.findall(subject.message))
        return f"adds `{_find_first(gained, DISJUNCTIONS)}`" if is_joined else ""
    negations = _sum_counts(gained, NEGATIONS) - _sum_counts(lost, NEGATIONS)
    for one, other in ((CONJUNCTIONS, DISJUNCTIONS), (DISJUNCTIONS, CONJUNCTIONS)):
        if _sum_counts(lost, one) and _sum_counts(gained, other) and not negations:
            return f"replaces `{_find_first(lost, one)}` by `{_find_first(gained, other)}`"
    if negations % 2:
        verb, changed = ("adds", gained) if negations > 0 else ("drops", lost)
        return f"{verb} the negation `{_find_first(changed, NEGATIONS)}`"
    return ""


def _count_words(tokens: Iterable[Token]) -> Counter[str]:
    return Counter(word for token in tokens if token.kind in ("keyword", "operator") for word in token.text.split())


def _sum_counts(counts: Counter[str], words: Iterable[str]) -> int:
    return sum(counts[word] for word in words)


def _find_first(counts: Counter[str], words: Iterable[str]) -> str:
    return next(word for word in sorted(words) if counts[word])


def _is_suggested(subject: Subject, difference: TokenDifference) -> bool:
    """Return whether the edit puts code that the message suggests at the place of the finding."""
    rest = _join(token for token in difference.before if not is_in(subject.reported, token))
    after = _join(difference.after)
    for code in find_suggestions(subject.message):
        head, suggested, tail = after.partition("".join(code.split()))
        if suggested and head + tail == rest:
            return True
    return False


def _join(tokens: Iterable[Token]) -> str:
    """Return the text of tokens without blanks, so that two ways to divide code into tokens can be compared."""
    return "".join("".join(token.text.split()) for token in tokens)
