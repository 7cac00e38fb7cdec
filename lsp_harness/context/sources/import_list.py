"""A place in a list of what is imported from a module, or handed on, and what there is to put in: the index knows it, so no model is
asked.

What the file uses and has not brought in is missing, all of it; of a list that only hands on what others define, it is the next name.
The list is read off the text, as what is half written is often no import to a parser.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsp_harness.context.sources.required_imports import local_name
from lsp_harness.index.index_view import Symbol, View
from lsp_harness.syntax.symbols.declarations import declared
from lsp_harness.syntax.text_kind import inside
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import decode, encode

FAR = 4_000
"""Bytes on either side in which a list begins and ends."""
WIDTH = 100
"""Characters of a line with several names."""
TYPED_NAME = re.compile(r"(?<![\w$])[\w$]*\Z")
COMMENT = re.compile(r"#[^\n]*|//[^\n]*")
PYTHON = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\([^()]*|[^\n()]*)\Z", re.MULTILINE)
SCRIPT = re.compile(r"^[ \t]*(import|export)\b(?:[ \t]+type\b)?(?:[ \t]+[\w$]+[ \t]*,)?\s*\{([^{}]*)\Z", re.MULTILINE)
SCRIPT_FROM = re.compile(r"([^{}]*)\}\s*from\s*([\"'])([^\"'\n]+)\2")
RUST = re.compile(r"^[ \t]*(pub(?:\([^)\n]*\))?[ \t]+)?use\s+([^;]*)\Z", re.MULTILINE)
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
WRITTEN = re.compile(r"(?:type\s+)?([\w$:]+)")
CLOSES = re.compile(r"\s*(?:[)}].*)?")
"""What may stand behind the place on its line."""
OPENS = re.compile(r"(?:\A|[,{(]|\bimport)\s*\Z")
"""What may stand before it."""
INDENT = re.compile(r"[ \t]+(?=[\w$])")
PLAIN = re.compile(r"[a-z]+")
MODULE_ITSELF = frozenset({"self", "super", "crate", "default"})


def _kind(name: str) -> int:
    """Constants, then classes, then the rest, as import sorters have them."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name.lstrip("_")[:1].isupper() else 2


SORT_KEYS: tuple[Callable[[str], tuple[int, str]], ...] = (
    lambda name: (0, name),
    lambda name: (_kind(name), name.lower()),
    lambda name: (0, name.lower()),
)
"""In which names of a list stand, the first that fits those that are there."""


@dataclass(frozen=True, slots=True)
class ImportList:
    """`before` and `after` are the names in the list on either side of the place, `typed` what of one stands before it already.

    `within` is what the names of the list are written with (`util::`), `hands_on` whether the statement is an export.
    """

    module: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    typed: str
    within: str = ""
    hands_on: bool = False


def find_import_list(tree: SyntaxTree, offset: int) -> ImportList | None:
    """The list that a place is in; None where it is in none."""
    data = tree.data
    head, rest = decode(data[max(0, offset - FAR) : offset]), decode(data[offset : offset + FAR])
    typed = TYPED_NAME.search(head)
    if typed is None or rest[:1].isalnum() or rest[:1] in ("_", "$"):
        return None
    head = head[: typed.start()]
    match tree.language.id:
        case "python":
            found = _python(head, rest, typed[0])
        case "rust":
            found = _rust(head, rest, typed[0])
        case language if language in SCRIPTS:
            found = _script(head, rest, typed[0])
        case _:
            found = None
    return found


def _python(head: str, rest: str, typed: str) -> ImportList | None:
    found = PYTHON.search(COMMENT.sub("", head))
    if found is None:
        return None
    module, listed = found.groups()
    rest = COMMENT.sub("", rest).partition(")" if listed[:1] == "(" else "\n")[0]
    # linters are told of imports that nothing here uses
    hands_on = "noqa" in head[head.rfind(f"from {module} ") :]
    return ImportList(module, _names(listed.lstrip("(").split(",")), _names(rest.split(",")), typed, hands_on=hands_on)


def _script(head: str, rest: str, typed: str) -> ImportList | None:
    found, end = SCRIPT.search(COMMENT.sub("", head)), SCRIPT_FROM.match(COMMENT.sub("", rest))
    if found is None or end is None:
        return None
    before, after = _names(found[2].split(",")), _names(end[1].split(","))
    return ImportList(end[3], before, after, typed, hands_on=found[1] == "export")


def _rust(head: str, rest: str, typed: str) -> ImportList | None:
    found = RUST.search(COMMENT.sub("", head))
    if found is None:
        return None
    levels: list[tuple[str, list[str]]] = []
    items, item = list[str](), ""
    for sign in found[2]:
        if sign == "{":
            levels.append((item.strip(), items))
            items, item = [], ""
        elif sign == "," or (sign == "}" and levels):
            items.append(item)
            if sign == "}":
                name, items = levels.pop()
                item = name
            else:
                item = ""
        else:
            item += sign
    if not levels:
        return None
    before = _names(items)
    own = item.strip()
    # in `crate::{stats::Stats, util::Replacer, …` the next is likely one more of the last module
    within = own or (before[-1].rpartition("::")[0] + "::" if before and "::" in before[-1] else "")
    module = "".join(name for name, _ in levels) + within
    after = _names(_level(COMMENT.sub("", rest)))
    return ImportList(module.removesuffix("::"), before, after, typed, "" if own else within, bool(found[1]))


def _level(text: str) -> Iterator[str]:
    """The items up to the end of a list, of those that are lists themselves what is before it."""
    depth, item = 0, ""
    for sign in text:
        if sign == "{":
            depth += 1
        elif sign == "}":
            if depth == 0:
                break
            depth -= 1
        elif sign == "," and depth == 0:
            yield item
            item = ""
        elif depth == 0:
            item += sign
    yield item


def _names(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(found[1].removesuffix("::") for item in items if (found := WRITTEN.match(item.strip())))


def complete_import_list(view: View, path: str, tree: SyntaxTree, offset: int) -> str:
    """The text to put in, empty where nothing is known."""
    there = find_import_list(tree, offset)
    if there is None:
        return ""
    if path.endswith("__init__.py"):
        there = replace(there, hands_on=True)
    line, rest = _line(tree, offset)
    line = line.removesuffix(there.typed)
    if not CLOSES.fullmatch(rest) or not OPENS.search(line):
        return ""
    listed = {name.rpartition("::")[2] for name in (*there.before, *there.after)}
    has = [one.name for one in view.exported(path, tree.language.id, there.module) if is_public(view, one)]
    free = [name for name in dict.fromkeys(has) if name not in listed]
    filled = tree.language.id == "rust" or len(_names(_above(tree, offset).split(","))) > 1
    found = _placed(there, free if there.hands_on else _missing(tree, offset, free))
    # of what is handed on no more is known than that it could be
    found = found if filled or not there.hands_on else found[:1]
    found = [there.within + name for name in found if name.startswith(there.typed) and name != there.typed]
    # an editor may leave a new line without indentation
    blanks = "" if line or not (above := INDENT.match(_above(tree, offset))) else above[0]
    return (
        blanks + _text(found, line or blanks, tree.document.newline, filled=filled)[len(there.typed) :] if found else ""
    )


def is_public(view: View, symbol: Symbol) -> bool:
    """Whether other files may import it, by how it is declared."""
    match symbol.language:
        case "python":
            return not symbol.name.startswith("_")
        case "rust":
            return symbol.kind != "implementation" and view.before(symbol).lstrip().startswith("pub")
        case _:
            return "export" in view.before(symbol)


def _missing(tree: SyntaxTree, offset: int, names: Sequence[str]) -> list[str]:
    """Of these names those that the text uses and neither declares nor imports elsewhere."""
    definitions, brought = declared(tree.language, tree.data, tree.root)
    # while it is half written, a statement may seem to have what follows it
    own = max((one.start for one in brought if one.start <= offset), default=-1)
    known = {one.name for one in definitions}
    known |= {local_name(one, tree.language.id) for one in brought if one.start != own}
    return [name for name in names if name not in known and _used(tree, name)]


def _used(tree: SyntaxTree, name: str) -> bool:
    """Whether code uses this name: a word of its own, and one that may be any variable's is called, or has something."""
    behind = rb"\s*(?:[(.<]|::|!\()" if PLAIN.fullmatch(name) else rb"(?!\w)"
    found = re.finditer(rb"(?<![\w.])" + re.escape(encode(name)) + behind, tree.data)
    return any(inside(tree, match.start()) == "code" for match in found)


def _placed(there: ImportList, names: Sequence[str]) -> list[str]:
    """In the order of the list, where it has one, and what comes between the names around the place; else as they are."""
    before = [name for name in there.before if name not in MODULE_ITSELF]
    after = [name for name in there.after if name not in MODULE_ITSELF]
    fitting = [key for key in SORT_KEYS if [*map(key, (*before, *after))] == sorted(map(key, (*before, *after)))]
    for key in fitting:
        least, most = [key(name) for name in before[-1:]], [key(name) for name in after[:1]]
        ordered = sorted((key(there.within + name), name) for name in names)
        if found := [name for at, name in ordered if least < [at] and (not most or [at] < most)]:
            return found
    return [] if fitting else [*names]


def _text(names: Sequence[str], line: str, newline: str, *, filled: bool) -> str:
    if line.strip():
        return ("" if line[-1:].isspace() or line[-1:] in "{(" else " ") + ", ".join(names)
    if not filled:
        return f",{newline}{line}".join(names) + ","
    text = ""
    for name in names:
        if text and len(line) + len(text) + len(name) > WIDTH:
            break
        text += f"{name}, "
    return text.rstrip()


def _line(tree: SyntaxTree, offset: int) -> tuple[str, str]:
    """What stands on the line before a place and after it."""
    start, end = tree.document.line_span(tree.document.line_of(offset))
    return decode(tree.data[start:offset]), decode(tree.data[offset:end])


def _above(tree: SyntaxTree, offset: int) -> str:
    line = tree.document.line_of(offset)
    return decode(tree.document.line(line - 1)) if line else ""
