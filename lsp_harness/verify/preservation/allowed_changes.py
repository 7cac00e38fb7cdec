"""The changes that an edit may make, by the kind of its finding: one function for each kind.

Each function returns what the edit changes beyond that, as a phrase ("drops the call `sum()`"), or an empty text.
"""

import re
from collections.abc import Sequence

from lsp_harness.knowledge.stdlib_tables import load_standard
from lsp_harness.syntax.recovery.misplaced_signs import describe_misplaced_sign
from lsp_harness.syntax.scope import find_imports
from lsp_harness.syntax.symbols.declarations import Import, find_declarations
from lsp_harness.syntax.tokens import Token
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.misspelling import is_misspelling
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.preservation.token_difference import (
    TokenDifference,
    TokenReplacement,
    describe_tokens,
    is_called,
)

MAX_SYNTAX_TOKENS = 4
"""Most tokens that the repair of a syntax error may change: a pair of brackets, or a misspelt keyword and a colon."""
RECEIVERS = frozenset({"self", "this", "cls", "$this", "Self", "super"})
MEMBER_MARKS = frozenset({".", "->", "::", "?.", "$", "@"})
BLOCK_WORDS = frozenset({"end", "then", "do", "done", "fi", "esac", "pass", "in"})
"""Keywords that only open, close or fill a block."""
INSERTABLE_OPERATORS = frozenset(
    {"=", "==", "=>", "->", "::", ".", "<", ">", "?", ":=", "$", "@", "?>", "</", "/>", "..."}
)
"""Operators that the repair of a syntax error may insert."""
CONTROL_KEYWORDS = frozenset(
    [
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
        "assert",
        "del",
        "global",
        "nonlocal",
        "unsafe",
        "loop",
    ]
)
"""Keywords that decide which code runs."""
WHOLE_MODULE_IMPORT = re.compile(r"(?:using|#\s*include)\s*[<\"]?([\w./]+)[>\"]?;?")
"""An import of everything that a module has."""
ELSE_IF = frozenset({"else if", "elif", "elsif", "elseif"})
"""The keyword with the same meaning in several languages."""
PLACEHOLDERS = frozenset({"_", "pass", "="})
"""Tokens that may replace removed code."""


def check_syntax_repair(subject: Subject, difference: TokenDifference, change: Change) -> str:
    """Allow adding and removing brackets, quotes, separators and block keywords, and correcting a misspelt word."""
    del subject
    if difference.size > MAX_SYNTAX_TOKENS + 1:
        return _describe(difference) or f"changes {difference.size} tokens, where one is wrong"
    quotes = [token for token in difference.gained_tokens() if token.text.strip("'\"`") == ""]
    if len(quotes) > 1:
        return "puts code into a string"
    for replacement in difference.replacements:
        objection = _check_syntax_replacement(replacement, difference, change.before.data)
        objection = objection or _check_sign_place(replacement, change)
        if objection:
            return objection
    return ""


def _check_sign_place(replacement: TokenReplacement, change: Change) -> str:
    """Return what is wrong with the place of an added sign, or an empty text."""
    after = change.tree_after
    if after is None or len(replacement.new) != 1:
        return ""
    token = replacement.new[0]
    return describe_misplaced_sign(after, token.start, token.end, is_replacement=bool(replacement.old))


def _check_syntax_replacement(replacement: TokenReplacement, difference: TokenDifference, text: bytes) -> str:
    old = [token for token in replacement.old if token.kind != "separator"]
    new = [token for token in replacement.new if token.kind != "separator"]
    if _have_same_letters(replacement.old, replacement.new):
        # a blank inside an operator or before a quote was added or removed
        return ""
    if len(old) == len(new) and all(_may_exchange(a, b) for a, b in zip(old, new, strict=True)):
        return ""
    if not old and _closes_element(new, text):
        return ""
    if {" ".join(token.text for token in side) for side in (old, new)} <= ELSE_IF:
        return ""
    if len(new) > len(old) and _have_same_letters(old, new):
        # a missing bracket had joined two words: `lenx)`
        return "" if _are_words([token.text for token in new], text) else f"tears `{old[0].text}` apart"
    if old and (new or any(token.text not in BLOCK_WORDS for token in old)):
        return describe_tokens("drops", old, difference.before) or "drops code"
    added = [token for token in new if token.text not in BLOCK_WORDS | INSERTABLE_OPERATORS]
    return describe_tokens("adds", added, difference.after)


def _closes_element(new: Sequence[Token], text: bytes) -> bool:
    """Return whether the added tokens are the closing tag of an element that the text opens."""
    tag = re.fullmatch(r"</([\w.]+)>", "".join(token.text for token in new))
    return tag is not None and re.search(rb"<%s\b" % re.escape(encode(tag[1])), text) is not None


def _have_same_letters(old: Sequence[Token], new: Sequence[Token]) -> bool:
    return "".join(token.text for token in old) == "".join(token.text for token in new)


def _are_words(parts: Sequence[str], text: bytes) -> bool:
    """Return whether the parts of a divided name are names in this text or numbers.

    The first part may be a name of the language instead, if the last part is long enough.
    """
    are_known = [_is_word(part, text) for part in parts]
    return all(are_known) or (are_known[-1] and len(parts[-1]) > 2)


def _is_word(part: str, text: bytes) -> bool:
    return part.isdecimal() or re.search(rb"(?<!\w)%s(?!\w)" % re.escape(encode(part)), text) is not None


def _may_exchange(old: Token, new: Token) -> bool:
    if old.kind == "name" and new.kind == "name":
        return is_misspelling(old.text, new.text)
    return old.kind == new.kind == "operator"


def check_name_repair(subject: Subject, difference: TokenDifference, change: Change) -> str:
    """Allow replacing the unknown name by one that it misspells, putting `self.` before it, and importing it."""
    if _imports_name(subject, difference, change) or _declares_name(subject, difference, change):
        return ""
    for replacement in difference.replacements:
        old, new = list(replacement.old), list(replacement.new)
        if not old and _qualifies_name(subject, new, difference):
            continue
        if not (old and len(old) == len(new) == 1 and _is_subject(subject, old[0])):
            return _describe(difference) or "changes more than the name"
        wrong = _read_sigil(old[0].text) + subject.name.lstrip("$@") if subject.name else old[0].text
        if not _corrects_spelling(wrong, new[0]):
            return f"replaces `{old[0].text}` by `{new[0].text}`, which is another thing"
    return "" if difference.replacements else "changes nothing"


def _is_subject(subject: Subject, token: Token) -> bool:
    if subject.name:
        return token.text.lstrip("$@") == subject.name.lstrip("$@")
    return is_in(subject.span, token)


def _corrects_spelling(wrong: str, token: Token) -> bool:
    # a sigil may be added but never dropped, because `@total` and `total` are different variables
    has_sigil = _read_sigil(wrong) in ("", _read_sigil(token.text))
    return has_sigil and token.kind in ("name", "keyword", "literal") and is_misspelling(wrong, token.text)


def _read_sigil(name: str) -> str:
    """Return the `$` or `@` in front of a name."""
    return name[: len(name) - len(name.lstrip("$@"))]


def _declares_name(subject: Subject, difference: TokenDifference, change: Change) -> bool:
    """Return whether the edit only turns an assignment to the unknown name into a declaration (`=` to `:=` in Go)."""
    if change.tree_before is None or not change.tree_before.language.names.declaring_sign or not subject.name:
        return False
    old, new = [token.text for token in difference.old], [token.text for token in difference.new]
    line = change.after.line_span(change.after.line_of(difference.place))
    words = re.findall(rb"\w+", change.after.data[line[0] : difference.place])
    return (old, new) == (["="], [change.tree_before.language.names.declaring_sign]) and encode(subject.name) in words


def _qualifies_name(subject: Subject, new: Sequence[Token], difference: TokenDifference) -> bool:
    """Return whether the added tokens are a receiver such as `self.` before the unknown name."""
    words = [token.text for token in new if token.text not in MEMBER_MARKS]
    if not new or not all(word in RECEIVERS for word in words):
        return False
    following = next((token for token in difference.after if token.start >= new[-1].end), None)
    return following is not None and following.text.lstrip("$@") == subject.name.lstrip("$@")


def _imports_name(subject: Subject, difference: TokenDifference, change: Change) -> bool:
    """Return whether the edit removes nothing and adds only imports, one of them of the unknown name."""
    after = change.tree_after
    if after is None or difference.lost_tokens():
        return False
    spans = _import_spans(after)
    gained = difference.gained_tokens()
    is_only_imports = all(any(span.start <= token.start < span.end for span in spans) for token in gained)
    wanted = subject.name or next(iter(subject.quoted), "")
    is_imported = (
        any(wanted in token.text for token in gained)
        or _is_file_name(wanted, gained)
        or _is_in_whole_modules(wanted, change)
    )
    return bool(gained) and is_only_imports and bool(wanted) and is_imported


def _is_file_name(wanted: str, gained: Sequence[Token]) -> bool:
    """Return whether the import is of a file with the same name: `require "set"` defines `Set`."""
    plain = wanted.replace("_", "").lower()
    return any(plain == token.text.replace("_", "").replace("-", "").rpartition("/")[2].lower() for token in gained)


def _is_in_whole_modules(wanted: str, change: Change) -> bool:
    """Return whether the edit only imports whole modules that have the name, such as `#include <string.h>`."""
    table = load_standard(change.tree_before.language.id if change.tree_before else "")
    lines = [line.strip() for edit in change.edits for line in decode(edit.new).splitlines()]
    lines_before = {line.strip() for line in change.before.text.splitlines()}
    modules = [WHOLE_MODULE_IMPORT.fullmatch(line) for line in lines if line and line not in lines_before]
    exporting = set(table.find_exporting_modules(wanted))
    return bool(modules) and all(module is not None and module[1] in exporting for module in modules)


def _import_spans(tree: SyntaxTree) -> list[Span]:
    """Return the spans of the imports of a text. For imports that the outline does not know, these are their lines."""
    spans = list(find_imports(tree))
    _, imported = find_declarations(tree.language, tree.data, tree.root)
    for item in imported:
        line = tree.document.line_span(tree.document.line_of(item.start))
        spans.append(Span(*line))
    return spans


def check_removal(subject: Subject, difference: TokenDifference, change: Change) -> str:
    """Allow removing unused code and renaming it to `_`. Code that may have an effect and other bindings must stay."""
    gained = [
        token
        for token in difference.gained_tokens()
        if token.kind != "separator" and token.text not in PLACEHOLDERS and token.text != f"_{subject.name}"
    ]
    if gained:
        return describe_tokens("adds", gained, difference.after)
    lost = difference.lost_tokens()
    if comments := [token for token in lost if token.kind == "comment"]:
        return describe_tokens("drops", comments, difference.before)
    if subject.name and not any(token.text.lstrip("$@") == subject.name for token in difference.old):
        return describe_tokens("drops", lost, difference.before) or f"does not remove `{subject.name}`"
    if other_names := find_lost_bindings(subject, change):
        return f"drops {', '.join(f'`{name}`' for name in other_names)}, which the finding is not about"
    # unreachable code has no effect; its finding quotes no name
    is_unreachable = not subject.quoted
    if not is_unreachable and not _are_all_imports(lost, change):
        effects = [token for token in lost if is_called(token, difference.before) or token.text in CONTROL_KEYWORDS]
        if effects:
            return describe_tokens("drops", effects, difference.before)
    return ""


def _are_all_imports(lost: Sequence[Token], change: Change) -> bool:
    before = change.tree_before
    spans = _import_spans(before) if before else []
    return bool(lost) and all(any(span.start <= token.start < span.end for span in spans) for token in lost)


def find_lost_bindings(subject: Subject, change: Change) -> list[str]:
    """Return the names that only the text before the change declares or imports and that the finding is not about."""
    before, after = change.tree_before, change.tree_after
    if before is None or after is None:
        return []
    lost = _bound_names(before) - _bound_names(after)
    if not subject.quoted:
        # "Unnecessary using directive" is about everything that the marked line imports
        _, imported = find_declarations(before.language, before.data, before.root)
        lost -= {_bound_name(item) for item in imported if subject.span.start <= item.start < subject.span.end}
    names = {*subject.quoted, subject.name} | {part for quoted in subject.quoted for part in quoted.split(".")}
    return sorted(name for name in lost if name and name not in names and name.rpartition("/")[2] not in names)


def _bound_names(tree: SyntaxTree) -> set[str]:
    """Return the names that a text declares or imports."""
    declarations, imported = find_declarations(tree.language, tree.data, tree.root)
    return {item.name for item in declarations} | {_bound_name(item) for item in imported}


def _bound_name(item: Import) -> str:
    return item.alias or item.name or item.module.rpartition(".")[2]


def check_argument_repair(subject: Subject, difference: TokenDifference, change: Change) -> str:
    """Allow arguments to change places, to be wrapped, and to be written in another way. No name may be lost."""
    del change
    added = [token for token in difference.gained_tokens() if not _wraps_argument(token, difference)]
    if added:
        return describe_tokens("adds", added, difference.after)
    lost = [
        token
        for token in difference.lost_tokens()
        if token.kind != "separator" and not (is_in(subject.span, token) and token.kind == "literal")
    ]
    return describe_tokens("drops", lost, difference.before)


def _wraps_argument(token: Token, difference: TokenDifference) -> bool:
    """Return whether a repair of an argument may add this token.

    Such a token is a called name, a literal, a separator, or an operator that does not access a member.
    """
    if token.kind == "name":
        return is_called(token, difference.after)
    return token.kind in ("literal", "separator") or (token.kind == "operator" and token.text not in MEMBER_MARKS)


def is_in(span: Span, token: Token) -> bool:
    """Return whether a token overlaps a span. An empty span stands for the byte behind it."""
    return token.start < max(span.end, span.start + 1) and token.end > span.start


def _describe(difference: TokenDifference) -> str:
    """Return a phrase for everything that is lost and gained."""
    return " and ".join(filter(None, (difference.describe_losses(), difference.describe_gains())))
