"""What an edit may change, by the kind of the finding that it is for: one function for each row of the table in `verify.kept`.

Each returns what the edit changes beyond that, in words, or an empty text.
"""

import re
from collections.abc import Sequence

from lsp_harness.knowledge.standard.stdlib_tables import standard
from lsp_harness.syntax.recovery.sign_rules.misplaced_signs import misplaced_sign
from lsp_harness.syntax.scope import imports
from lsp_harness.syntax.symbols.declarations import declared
from lsp_harness.syntax.tokens import Token
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.misspelling import misspelt
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.token_difference import TokenDifference, TokenReplacement, describe_tokens, is_called

MAX_SYNTAX_TOKENS = 4
"""Tokens that the repair of one syntax error may change: a pair of brackets, or a misspelt keyword and a colon."""
RECEIVERS = frozenset({"self", "this", "cls", "$this", "Self", "super"})
MEMBER_MARKS = frozenset({".", "->", "::", "?.", "$", "@"})
CLOSING_WORDS = frozenset({"end", "then", "do", "done", "fi", "esac", "pass", "in"})
"""Keywords that only open, close or fill a block."""
ADDED_OPERATORS = frozenset({"=", "==", "=>", "->", "::", ".", "<", ">", "?", ":=", "$", "@", "?>", "</", "/>", "..."})
FLOW = frozenset(
    {
        "return",
        "raise",
        "throw",
        "yield",
        "await",
        "async",
        "if",
        "elif",
        "else",
        "for",
        "while",
        "try",
        "except",
        "catch",
    }
    | {
        "finally",
        "with",
        "break",
        "continue",
        "switch",
        "match",
        "case",
        "def",
        "class",
        "function",
        "fn",
        "func",
        "defer",
        "go",
    }
    | {"assert", "del", "global", "nonlocal", "unsafe", "loop"}
)
"""Keywords that decide what runs."""
WHOLE_MODULE = re.compile(r"(?:using|#\s*include)\s*[<\"]?([\w./]+)[>\"]?;?")
"""An import that brings all that a module has."""
ELSE_IF = frozenset({"else if", "elif", "elsif", "elseif"})
"""The same in several languages."""
PLACEHOLDERS = frozenset({"_", "pass", "="})


def check_syntax_repair(subject: Subject, found: TokenDifference, change: Change) -> str:
    """Brackets, quotes, separators and the keywords of blocks may come and go; a word may be replaced by one it misspells."""
    del subject
    if found.size > MAX_SYNTAX_TOKENS + 1:
        return _joined(found) or f"changes {found.size} tokens, where one is wrong"
    quotes = [token for token in found.gained() if token.text.strip("'\"`") == ""]
    if len(quotes) > 1:
        return "puts code into a string"
    for each in found.replacements:
        if said := _syntax_replacement(each, found, change.before.data) or _misplaced(each, change):
            return said
    return ""


def _misplaced(each: TokenReplacement, change: Change) -> str:
    """What is wrong with the place of a sign that is added."""
    after = change.tree_after
    if after is None or len(each.new) != 1:
        return ""
    token = each.new[0]
    return misplaced_sign(after, token.start, token.end, replaced=bool(each.old))


def _syntax_replacement(each: TokenReplacement, found: TokenDifference, text: bytes) -> str:
    old = [token for token in each.old if token.kind != "separator"]
    new = [token for token in each.new if token.kind != "separator"]
    if _same_letters(each.old, each.new):
        # a quote or an operator that was written with a blank in it, or without one
        return ""
    if len(old) == len(new) and all(_exchangeable(a, b) for a, b in zip(old, new, strict=True)):
        return ""
    if not old and _closes_an_element(new, text):
        return ""
    if {" ".join(token.text for token in side) for side in (old, new)} <= ELSE_IF:
        return ""
    if len(new) > len(old) and _same_letters(old, new):
        # a bracket that is missing had joined two words: `lenx)`
        return "" if _are_words([token.text for token in new], text) else f"tears `{old[0].text}` apart"
    if old and (new or any(token.text not in CLOSING_WORDS for token in old)):
        return describe_tokens("drops", old, found.before) or "drops code"
    strange = [token for token in new if token.text not in CLOSING_WORDS | ADDED_OPERATORS]
    return describe_tokens("adds", strange, found.after)


def _closes_an_element(new: Sequence[Token], text: bytes) -> bool:
    """Whether all that is added is the closing tag of an element that the text begins."""
    tag = re.fullmatch(r"</([\w.]+)>", "".join(token.text for token in new))
    return tag is not None and re.search(rb"<%s\b" % re.escape(encode(tag[1])), text) is not None


def _same_letters(old: Sequence[Token], new: Sequence[Token]) -> bool:
    return "".join(token.text for token in old) == "".join(token.text for token in new)


def _are_words(names: Sequence[str], text: bytes) -> bool:
    """Whether all parts of a torn name are names of this text or numbers; the first may be one of the language if the last is long enough."""
    known = [_is_word(name, text) for name in names]
    return all(known) or (known[-1] and len(names[-1]) > 2)


def _is_word(name: str, text: bytes) -> bool:
    return name.isdecimal() or re.search(rb"(?<!\w)%s(?!\w)" % re.escape(encode(name)), text) is not None


def _exchangeable(old: Token, new: Token) -> bool:
    if old.kind == "name" and new.kind == "name":
        return misspelt(old.text, new.text)
    return old.kind == new.kind == "operator"


def check_name_repair(subject: Subject, found: TokenDifference, change: Change) -> str:
    """The unknown name may be replaced by one it misspells, be reached through `self`, or be imported."""
    if _brings(subject, found, change) or _declares(subject, found, change):
        return ""
    for each in found.replacements:
        old, new = list(each.old), list(each.new)
        if not old and _qualifies(subject, new, found):
            continue
        if not (old and len(old) == len(new) == 1 and _is(subject, old[0])):
            return _joined(found) or "changes more than the name"
        if not _respelt(_mark(old[0].text) + subject.name.lstrip("$@") if subject.name else old[0].text, new[0]):
            return f"replaces `{old[0].text}` by `{new[0].text}`, which is another thing"
    return "" if found.replacements else "changes nothing"


def _is(subject: Subject, token: Token) -> bool:
    if subject.name:
        return token.text.lstrip("$@") == subject.name.lstrip("$@")
    return token.start < max(subject.span.end, subject.span.start + 1) and token.end > subject.span.start


def _respelt(wrong: str, token: Token) -> bool:
    # a mark before a name may be added, and never be dropped: `@total` is not `total`
    same = _mark(wrong) in ("", _mark(token.text))
    return same and token.kind in ("name", "keyword", "literal") and misspelt(wrong, token.text)


def _mark(name: str) -> str:
    return name[: len(name) - len(name.lstrip("$@"))]


def _declares(subject: Subject, found: TokenDifference, change: Change) -> bool:
    """Whether all that changes is that the assignment to the unknown name of Go declares it."""
    if change.tree_before is None or change.tree_before.language.id != "go" or not subject.name:
        return False
    changed = [token.text for token in found.old], [token.text for token in found.new]
    line = change.after.line_span(change.after.line_of(found.place))
    words = re.findall(rb"\w+", change.after.data[line[0] : found.place])
    return changed == (["="], [":="]) and encode(subject.name) in words


def _qualifies(subject: Subject, new: Sequence[Token], found: TokenDifference) -> bool:
    """Whether what is added is `self.` or the like before the unknown name."""
    words = [token.text for token in new if token.text not in MEMBER_MARKS]
    if not new or not all(word in RECEIVERS for word in words):
        return False
    behind = next((token for token in found.after if token.start >= new[-1].end), None)
    return behind is not None and behind.text.lstrip("$@") == subject.name.lstrip("$@")


def _brings(subject: Subject, found: TokenDifference, change: Change) -> bool:
    """Whether nothing is removed, and all that is added stands in imports, one of which says the unknown name."""
    after = change.tree_after
    if after is None or found.lost():
        return False
    spans = _imports(after)
    gained = found.gained()
    inside = all(any(span.start <= token.start < span.end for span in spans) for token in gained)
    wanted = subject.name or next(iter(subject.quoted), "")
    said = any(wanted in token.text for token in gained) or _module_of(wanted, gained) or _exported(wanted, change)
    return bool(gained) and inside and bool(wanted) and said


def _module_of(wanted: str, gained: Sequence[Token]) -> bool:
    """Whether the import is of a file that is named after what it defines: `require "set"` brings `Set`."""
    plain = wanted.replace("_", "").lower()
    return any(plain == token.text.replace("_", "").replace("-", "").rpartition("/")[2].lower() for token in gained)


def _exported(wanted: str, change: Change) -> bool:
    """Whether all that is added are imports of whole modules that have the name: `using System.Linq;`, `#include <string.h>`."""
    table = standard(change.tree_before.language.id if change.tree_before else "")
    lines = [line.strip() for edit in change.edits for line in decode(edit.new).splitlines()]
    present = {line.strip() for line in change.before.text.splitlines()}
    modules = [WHOLE_MODULE.fullmatch(line) for line in lines if line and line not in present]
    exporting = set(table.exporting(wanted))
    return bool(modules) and all(module is not None and module[1] in exporting for module in modules)


def _imports(tree: SyntaxTree) -> list[Span]:
    """Where the imports of a text stand; lines that the outline does not know are read from the declarations."""
    spans = list(imports(tree))
    _, brought = declared(tree.language, tree.data, tree.root)
    for each in brought:
        line = tree.document.line_span(tree.document.line_of(each.start))
        spans.append(Span(*line))
    return spans


def check_removal(subject: Subject, found: TokenDifference, change: Change) -> str:
    """What nothing uses may go, or be renamed to `_`; whatever may do something stays, and so does all else that is bound."""
    gained = [
        token
        for token in found.gained()
        if token.kind not in ("separator",) and token.text not in PLACEHOLDERS and token.text != f"_{subject.name}"
    ]
    if gained:
        return describe_tokens("adds", gained, found.after)
    lost = found.lost()
    if comments := [token for token in lost if token.kind == "comment"]:
        return describe_tokens("drops", comments, found.before)
    if subject.name and not any(token.text.lstrip("$@") == subject.name for token in found.old):
        return describe_tokens("drops", lost, found.before) or f"does not remove `{subject.name}`"
    others = _unbound_by(subject, change)
    if others:
        return f"drops {', '.join(f'`{other}`' for other in others)}, which the finding is not about"
    importing = _all_imported(lost, change)
    if not importing:
        effects = [token for token in lost if is_called(token, found.before) or token.text in FLOW]
        if effects and not _unreachable(subject):
            return describe_tokens("drops", effects, found.before)
    return ""


def _unreachable(subject: Subject) -> bool:
    return not subject.quoted


def _all_imported(lost: Sequence[Token], change: Change) -> bool:
    before = change.tree_before
    spans = _imports(before) if before else []
    return bool(lost) and all(any(s.start <= token.start < s.end for s in spans) for token in lost)


def _unbound_by(subject: Subject, change: Change) -> list[str]:
    """Names that the text before declares or imports, the text after does not, and the finding is not about."""
    names: list[set[str]] = []
    tree_of_before = change.tree_before
    for tree in (change.tree_before, change.tree_after):
        if tree is None:
            return []
        found, brought = declared(tree.language, tree.data, tree.root)
        bound = {one.alias or one.name or one.module.rpartition(".")[2] for one in brought}
        names.append({one.name for one in found} | bound)
    gone = names[0] - names[1]
    if not subject.quoted and tree_of_before is not None:
        # "Unnecessary using directive" is about all that the marked line imports
        _, brought = declared(tree_of_before.language, tree_of_before.data, tree_of_before.root)
        marked = [one for one in brought if subject.span.start <= one.start < subject.span.end]
        gone -= {one.alias or one.name or one.module.rpartition(".")[2] for one in marked}
    about = {*subject.quoted, subject.name} | {part for quoted in subject.quoted for part in quoted.split(".")}
    return sorted(one for one in gone if one and one not in about and one.rpartition("/")[2] not in about)


def check_argument_repair(subject: Subject, found: TokenDifference, change: Change) -> str:
    """Arguments may change places, or be wrapped or written otherwise where the finding is; no name may be lost."""
    del change
    strange = [token for token in found.gained() if not _wraps(token, found)]
    if strange:
        return describe_tokens("adds", strange, found.after)
    lost = [token for token in found.lost() if token.kind != "separator"]
    within = [token for token in lost if _in(subject.span, token) and token.kind == "literal"]
    return describe_tokens("drops", [token for token in lost if token not in within], found.before)


def _wraps(token: Token, found: TokenDifference) -> bool:
    """Whether a token may be added to make an argument fit: a literal, a call around it, a sign that changes no receiver."""
    if token.kind == "name":
        return is_called(token, found.after)
    return token.kind in ("literal", "separator") or (token.kind == "operator" and token.text not in MEMBER_MARKS)


def _in(span: Span, token: Token) -> bool:
    return token.start < max(span.end, span.start + 1) and token.end > span.start


def check_rule_repair(subject: Subject, found: TokenDifference, change: Change) -> str:
    """Operators and literals may change where the finding is; names, comments, calls and what decides what runs stay."""
    del change

    def free(token: Token) -> bool:
        quoted = any(token.text == word or token.text in word.split(".") for word in subject.quoted)
        return quoted or (_in(subject.span, token) and token.kind in ("operator", "literal", "separator"))

    lost = [token for token in found.lost() if token.kind not in ("separator", "operator") and not free(token)]
    if lost:
        return describe_tokens("drops", lost, found.before)
    strange = [token for token in found.gained() if token.text in FLOW and token.text not in subject.quoted]
    return describe_tokens("adds", strange, found.after)


def _joined(found: TokenDifference) -> str:
    return " and ".join(filter(None, (found.losses(), found.gains())))
