"""The removal of what an edit adds and nothing uses: imports, and functions that were meant to help.

A linter would reject the edit for such a line, and a person would remove it.
"""

import re
from collections.abc import Iterator

from lsp_harness.coding.candidates.partial_answer import FUNCTION_KINDS
from lsp_harness.context.lookup.required_imports import name_locally
from lsp_harness.index.identifier_words import split_words
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.removal.unused_imports import remove_unused_import
from lsp_harness.syntax.scope import find_imports, function_text_span
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.change import Change, ChangeSet

EXPORTING_STEMS = frozenset({"__init__", "conftest", "index", "mod", "lib"})
"""Names of files whose imports are for other files."""
DIRECTIVE_START = "__"
"""The beginning of the name of a module whose import is an order to the compiler."""
CREATION = re.compile(
    r"\b(?:add|create|write|implement|introduce|define|extract|split|factor|move)\b[^.;]*"
    r"\b(?:functions?|methods?|helpers?|fixtures?|tests?|callbacks?|components?|hooks?)\b"
    r"|\b(?:extract|split|factor)\b",
    re.IGNORECASE,
)
"""A task that asks for a new function."""
CALLED_BY_TOOLS = re.compile(
    r"test|bench|example|pytest_|_*set_?up|_*tear_?down|(?:main|init|handler)\Z", re.IGNORECASE
)
"""The beginning of the names of functions that no code of a project calls."""
ATTACHED_MARKS = (b"@", b"#[", b"[")
"""The beginning of decorators and attributes, by which something else may call a function."""
MAX_PASSES = 3
"""Most passes: a function that is removed may have used an import, or another new function."""


def remove_unused_additions(changes: ChangeSet, task: str) -> ChangeSet:
    """Return a proposal without what it adds and nothing uses. What the texts had before stays.

    Args:
        changes: The proposal.
        task: The request in words. What it asks for stays.
    """
    return ChangeSet(tuple(_clean(change, task) for change in changes))


def _clean(change: Change, task: str) -> Change:
    for _ in range(MAX_PASSES):
        edits = [*_find_unused_helpers(change, task)] or [*_find_unused_imports(change)]
        if not edits:
            break
        change = change.with_after(apply(change.after.data, edits))
    return change


def _find_unused_imports(change: Change) -> Iterator[Edit]:
    """Yield the edits of the new text that remove new names from its imports."""
    before, after = change.tree_before, change.tree_after
    if after is None or change.file.stem in EXPORTING_STEMS:
        return
    language, end = after.language, -1
    traits = language.imports
    if traits.has_extension_members or traits.brings_methods:
        return
    old = find_declarations(before.language, before.data, before.root)[1] if before else []
    known = {name_locally(item, language) for item in old}
    for item in find_declarations(language, after.data, after.root)[1]:
        name = name_locally(item, language)
        is_named = item.name != "*" and bool(item.name or item.alias or traits.binds_first_part)
        is_order = item.module.startswith(DIRECTIVE_START) or (item.alias and item.name == item.alias)
        if not is_named or is_order or name in known or item.start < end or _is_used(after, name):
            continue
        for removal in remove_unused_import(after, Span(item.start, item.start + 1), [name])[:1]:
            yield from removal.edits
            # the other names of a statement are looked at in the next pass, in the text without this one
            end = max(edit.end for edit in removal.edits)


def _is_used(tree: SyntaxTree, name: str) -> bool:
    """Return whether code uses an imported name, or a string has it, as a type in quotes does."""
    uses = find_occurrences(tree, name, Span(0, len(tree.data)))
    if any(use.role not in ("member", "key", "import") for use in uses):
        return True
    quoted = re.compile(rb"[\"'][^\"'\n]*\b%s\b[^\"'\n]*[\"']" % re.escape(encode(name)))
    imports = find_imports(tree)
    places = (match.start() for match in quoted.finditer(tree.data))
    return any(not any(span.start <= place < span.end for span in imports) for place in places)


def _find_unused_helpers(change: Change, task: str) -> Iterator[Edit]:
    """Yield the edits of the new text that remove new functions, if the edit changes a declaration."""
    before, after = change.tree_before, change.tree_after
    if before is None or after is None or CREATION.search(task):
        return
    old = find_declarations(before.language, before.data, before.root)[0]
    if not any(edit.start < item.end and item.start < edit.end for edit in change.edits for item in old):
        # new code that stands alone is what the task asks for
        return
    known, words = {item.name for item in old}, set(re.findall(r"\w+", task.lower()))
    for item in find_declarations(after.language, after.data, after.root)[0]:
        is_new = item.parent < 0 and item.kind in FUNCTION_KINDS and item.name not in known
        if is_new and not words & {*split_words(item.name).lower().split()} and _is_helper(after, item):
            yield from _remove_function(after, item)


def _is_helper(tree: SyntaxTree, item: Declaration) -> bool:
    """Return whether a function is visible in its file only, and nothing there has its name."""
    head, public_word = decode(tree.data[item.start : item.name_start]), tree.language.declarations.public_word
    is_public = item.name[:1].isupper() or (public_word and re.search(rf"\b{public_word}\b", head))
    if is_public or CALLED_BY_TOOLS.match(item.name) or tree.data.startswith(ATTACHED_MARKS, item.start):
        return False
    return len(re.findall(rb"\b%s\b" % re.escape(encode(item.name)), tree.data)) == 1


def _remove_function(tree: SyntaxTree, item: Declaration) -> Iterator[Edit]:
    """Yield the edit that removes a function with its comment and the blank lines above it."""
    if span := function_text_span(tree, item.name_start):
        above = tree.data[: span.start].rstrip()
        end = span.end
        if not above:
            end += len(tree.data[end:]) - len(tree.data[end:].lstrip(b"\r\n"))
        yield Edit(len(above), end, b"")
