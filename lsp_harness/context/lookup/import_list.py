"""Completes a list of imported or exported names from the index, without a model.

In a list of imports, the completion is every name that the file uses and that is not bound yet. In a list of exports,
it is the next name. The list is read from the text, because the parser often does not see an unfinished statement as an
import.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsp_harness.context.lookup.required_imports import name_locally
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.text_kind import text_kind_at
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import decode, encode

LIST_RADIUS_BYTES = 4_000
"""Bytes on either side of the cursor in which the list must begin and end."""
MAX_LINE_CHARS = 100
"""Most characters of a line with several names."""
TYPED_NAME = re.compile(r"(?<![\w$])[\w$]*\Z")
COMMENT = re.compile(r"#[^\n]*|//[^\n]*")
PYTHON_LIST = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\([^()]*|[^\n()]*)\Z", re.MULTILINE)
SCRIPT_LIST = re.compile(
    r"^[ \t]*(import|export)\b(?:[ \t]+type\b)?(?:[ \t]+[\w$]+[ \t]*,)?\s*\{([^{}]*)\Z", re.MULTILINE
)
SCRIPT_LIST_END = re.compile(r"([^{}]*)\}\s*from\s*([\"'])([^\"'\n]+)\2")
RUST_LIST = re.compile(r"^[ \t]*(pub(?:\([^)\n]*\))?[ \t]+)?use\s+([^;]*)\Z", re.MULTILINE)
LISTED_NAME = re.compile(r"(?:type\s+)?([\w$:]+)")
REST_OF_LINE = re.compile(r"\s*(?:[)}].*)?")
"""Matches the text that may follow the cursor on its line."""
LIST_SEPARATOR = re.compile(r"(?:\A|[,{(]|\bimport)\s*\Z")
"""Matches the text that may precede the cursor."""
INDENTATION = re.compile(r"[ \t]+(?=[\w$])")
LOWERCASE_WORD = re.compile(r"[a-z]+")
MODULE_KEYWORDS = frozenset({"self", "super", "crate", "default"})
"""Names in a list that mean the module itself and have no place in its order."""


def _name_group(name: str) -> int:
    """Return 0 for constants, 1 for classes and 2 for other names: the order of import sorters."""
    if name.isupper() and len(name) > 1:
        return 0
    return 1 if name.lstrip("_")[:1].isupper() else 2


SORT_KEYS: tuple[Callable[[str], tuple[int, str]], ...] = (
    lambda name: (0, name),
    lambda name: (_name_group(name), name.lower()),
    lambda name: (0, name.lower()),
)
"""Common orders of the names in a list. The first one that fits the names of a list is used."""


@dataclass(frozen=True, slots=True)
class ImportList:
    """A list of imported or exported names with the cursor in it.

    Attributes:
        module: The module of the names.
        before: The names before the cursor.
        after: The names after the cursor.
        typed: The part of a name directly before the cursor.
        prefix: The path that the names of the list carry in Rust (`util::`).
        is_export: Whether the statement exports the names to other files.
    """

    module: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    typed: str
    prefix: str = ""
    is_export: bool = False


def find_import_list(tree: SyntaxTree, offset: int) -> ImportList | None:
    """Return the list around a byte offset, or None if there is none."""
    data = tree.data
    text_before = decode(data[max(0, offset - LIST_RADIUS_BYTES) : offset])
    text_after = decode(data[offset : offset + LIST_RADIUS_BYTES])
    typed = TYPED_NAME.search(text_before)
    if typed is None or text_after[:1].isalnum() or text_after[:1] in ("_", "$"):
        return None
    text_before = text_before[: typed.start()]
    match tree.language.imports.form:
        case "from-import":
            return _find_python_list(text_before, text_after, typed[0])
        case "use-tree":
            return _find_rust_list(text_before, text_after, typed[0])
        case "module-import":
            return _find_script_list(text_before, text_after, typed[0])
        case _:
            return None


def _find_python_list(text_before: str, text_after: str, typed: str) -> ImportList | None:
    match = PYTHON_LIST.search(COMMENT.sub("", text_before))
    if match is None:
        return None
    module, names = match.groups()
    text_after = COMMENT.sub("", text_after).partition(")" if names[:1] == "(" else "\n")[0]
    # an export needs this comment, because linters report imports that the file does not use
    is_export = "noqa" in text_before[text_before.rfind(f"from {module} ") :]
    before, after = _read_names(names.lstrip("(").split(",")), _read_names(text_after.split(","))
    return ImportList(module, before, after, typed, is_export=is_export)


def _find_script_list(text_before: str, text_after: str, typed: str) -> ImportList | None:
    match, end = SCRIPT_LIST.search(COMMENT.sub("", text_before)), SCRIPT_LIST_END.match(COMMENT.sub("", text_after))
    if match is None or end is None:
        return None
    before, after = _read_names(match[2].split(",")), _read_names(end[1].split(","))
    return ImportList(end[3], before, after, typed, is_export=match[1] == "export")


def _find_rust_list(text_before: str, text_after: str, typed: str) -> ImportList | None:
    match = RUST_LIST.search(COMMENT.sub("", text_before))
    if match is None:
        return None
    levels: list[tuple[str, list[str]]] = []
    items, item = list[str](), ""
    for character in match[2]:
        if character == "{":
            levels.append((item.strip(), items))
            items, item = [], ""
        elif character == "," or (character == "}" and levels):
            items.append(item)
            if character == "}":
                name, items = levels.pop()
                item = name
            else:
                item = ""
        else:
            item += character
    if not levels:
        return None
    before = _read_names(items)
    own_path = item.strip()
    # in `crate::{stats::Stats, util::Replacer, …` the next name is likely another one of the last module
    prefix = own_path or (before[-1].rpartition("::")[0] + "::" if before and "::" in before[-1] else "")
    module = "".join(name for name, _ in levels) + prefix
    after = _read_names(_items_of_level(COMMENT.sub("", text_after)))
    return ImportList(module.removesuffix("::"), before, after, typed, "" if own_path else prefix, bool(match[1]))


def _items_of_level(text: str) -> Iterator[str]:
    """Yield the items up to the end of the list. Of an item that is a list itself, yield only the text before it."""
    depth, item = 0, ""
    for character in text:
        if character == "{":
            depth += 1
        elif character == "}":
            if depth == 0:
                break
            depth -= 1
        elif character == "," and depth == 0:
            yield item
            item = ""
        elif depth == 0:
            item += character
    yield item


def _read_names(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(match[1].removesuffix("::") for item in items if (match := LISTED_NAME.match(item.strip())))


def complete_import_list(names: ImportList, exported: Sequence[str], path: str, tree: SyntaxTree, offset: int) -> str:
    """Return the text to insert into a list of imports or exports, or an empty text if no name is known.

    Args:
        names: The list around the cursor.
        exported: The names that the module of the list exports.
        path: The file.
        tree: The tree of the file's text.
        offset: The cursor, in bytes.
    """
    if path.endswith("__init__.py"):
        names = replace(names, is_export=True)
    line, rest = _split_line(tree, offset)
    line = line.removesuffix(names.typed)
    if not REST_OF_LINE.fullmatch(rest) or not LIST_SEPARATOR.search(line):
        return ""
    listed = {name.rpartition("::")[2] for name in (*names.before, *names.after)}
    unlisted = [name for name in dict.fromkeys(exported) if name not in listed]
    line_above = _read_line_above(tree, offset)
    fills_lines = tree.language.imports.fills_lines or len(_read_names(line_above.split(","))) > 1
    candidates = _select_by_order(names, unlisted if names.is_export else _find_unbound(tree, offset, unlisted))
    if names.is_export and not fills_lines:
        # nothing tells whether the file wants to export more than the next name
        candidates = candidates[:1]
    candidates = [names.prefix + name for name in candidates if name.startswith(names.typed) and name != names.typed]
    if not candidates:
        return ""
    # some editors start a new line without indentation
    match = None if line else INDENTATION.match(line_above)
    indentation = match[0] if match else ""
    text = _write_names(candidates, line or indentation, tree.document.newline, fills_lines=fills_lines)
    return indentation + text[len(names.typed) :]


def _find_unbound(tree: SyntaxTree, offset: int, names: Sequence[str]) -> list[str]:
    """Return the names that the text uses and neither declares nor imports in another statement."""
    declarations, all_imports = find_declarations(tree.language, tree.data, tree.root)
    # an unfinished import may seem to contain the text that follows it, so its names do not count as imported
    own_start = max((item.start for item in all_imports if item.start <= offset), default=-1)
    bound = {item.name for item in declarations}
    bound |= {name_locally(item, tree.language) for item in all_imports if item.start != own_start}
    return [name for name in names if name not in bound and _is_used(tree, name)]


def _is_used(tree: SyntaxTree, name: str) -> bool:
    """Return whether code uses a name.

    A lower-case word may also be a variable, so it counts only if it is called or a member of it is used.
    """
    following = rb"\s*(?:[(.<]|::|!\()" if LOWERCASE_WORD.fullmatch(name) else rb"(?!\w)"
    matches = re.finditer(rb"(?<![\w.])" + re.escape(encode(name)) + following, tree.data)
    return any(text_kind_at(tree, match.start()) == "code" for match in matches)


def _select_by_order(names: ImportList, candidates: Sequence[str]) -> list[str]:
    """Return the candidates that belong between the names around the cursor, or all if the list has no order."""
    before = [name for name in names.before if name not in MODULE_KEYWORDS]
    after = [name for name in names.after if name not in MODULE_KEYWORDS]
    sort_keys = [key for key in SORT_KEYS if [*map(key, (*before, *after))] == sorted(map(key, (*before, *after)))]
    for key in sort_keys:
        lower, upper = [key(name) for name in before[-1:]], [key(name) for name in after[:1]]
        ordered = sorted((key(names.prefix + name), name) for name in candidates)
        if selected := [name for rank, name in ordered if lower < [rank] and (not upper or [rank] < upper)]:
            return selected
    return [] if sort_keys else [*candidates]


def _write_names(names: Sequence[str], line: str, newline: str, *, fills_lines: bool) -> str:
    """Return the text for some names behind `line`.

    Args:
        names: The names to import.
        line: The text before the cursor, or the indentation of a new line.
        newline: The line end of the document.
        fills_lines: Whether the list has several names on a line. Otherwise each name gets a line.
    """
    if line.strip():
        return ("" if line[-1:].isspace() or line[-1:] in "{(" else " ") + ", ".join(names)
    if not fills_lines:
        return f",{newline}{line}".join(names) + ","
    text = ""
    for name in names:
        if text and len(line) + len(text) + len(name) > MAX_LINE_CHARS:
            break
        text += f"{name}, "
    return text.rstrip()


def _split_line(tree: SyntaxTree, offset: int) -> tuple[str, str]:
    """Return the text on the line before and after a byte offset."""
    start, end = tree.document.line_span(tree.document.line_of(offset))
    return decode(tree.data[start:offset]), decode(tree.data[offset:end])


def _read_line_above(tree: SyntaxTree, offset: int) -> str:
    line = tree.document.line_of(offset)
    return decode(tree.document.line(line - 1)) if line else ""
