"""Declarations of an index by their names alone, with their documentation and the overview of one of them."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import cleandoc

from lsp_harness.index.graph.symbol_graph import SymbolGraph, build_graph
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language
from lsp_harness.store.database import placeholders
from lsp_harness.text.position import decode

MAX_CHARS = 200
STRING = re.compile(rb"""\s*[rRuU]?(?P<quote>\"\"\"|'''|"|')(?P<text>.*?)(?P=quote)""", re.DOTALL)
COMMENT = re.compile(r"^(?:///?!?|//|/\*+!?|\*+/?|--+|#+(?!\[|!))")
ATTRIBUTE = re.compile(r"^(?:@|#\[|\[)")
"""Lines that may stand between a comment and its declaration."""
EMPTY_COMMENT = re.compile(r"^(?:\W*$|noqa|type:|pylint|eslint|@ts-|nolint|clang-format|fmt:|TODO|FIXME)")


def read_doc_line(view: IndexView, symbol: Symbol) -> str:
    """Return the first line of a symbol's documentation; empty if there is none."""
    return _first_line(read_documentation(view, symbol))[:MAX_CHARS]


def read_documentation(view: IndexView, symbol: Symbol) -> str:
    """Return a symbol's documentation without the marks of strings and comments; empty if there is none."""
    style = find_language(symbol.language).declarations.documentation
    text = _read_docstring(view, symbol) if style and style.is_inside else ""
    return text or _read_comment(view, symbol)


def _read_docstring(view: IndexView, symbol: Symbol) -> str:
    has_no_body = symbol.body >= symbol.end
    offset = symbol.end if has_no_body else symbol.body
    chunk_start, data = view.texts.read_chunk(symbol.file, offset)
    data = data[offset - chunk_start :]
    if has_no_body:
        # The string after a variable documents it.
        data = data.partition(b"\n")[2]
    match = STRING.match(data)
    return cleandoc(decode(match["text"])) if match else ""


def _read_comment(view: IndexView, symbol: Symbol) -> str:
    chunk_start, data = view.texts.read_chunk(symbol.file, symbol.start)
    lines = decode(data[: symbol.start - chunk_start]).split("\n")[:-1]
    while lines and ATTRIBUTE.match(lines[-1].strip()):
        lines.pop()
    comment: list[str] = []
    while lines and COMMENT.match(lines[-1].strip()):
        comment.insert(0, COMMENT.sub("", lines.pop().strip()).strip().removesuffix("*/").strip())
    return "\n".join(line for line in comment if not EMPTY_COMMENT.match(line))


def _first_line(text: str) -> str:
    """Return the first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


CALLABLE_KINDS = ("function", "method", "class")
MAX_FUNCTIONS = 4
"""Most functions of one name to read."""
MAX_NAMES = 20_000
"""Most names to return for one range of lengths."""
MAX_ASKED_NAMES = 64
"""Most names whose declarations one question returns."""
MAX_SYMBOLS_PER_NAME = 200
MAX_SUFFIX_PATHS = 20
"""Most files with one end of their paths."""
MAX_NEAR_NAMES = 5
MIN_SIMILARITY = 0.6
LENGTH_TOLERANCE = 4
"""Most characters by which a similar name is longer or shorter."""
SELECT_NAMES = """
SELECT DISTINCT name, kind FROM symbols JOIN files ON files.id = symbols.file
WHERE language IN (?, ?) AND length(name) BETWEEN ? AND ? LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class DeclaredName:
    """The name of some declaration, and the kind of that declaration."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class LengthRange:
    """Names of `min_chars` to `max_chars` characters in two languages, which may be equal."""

    languages: tuple[str, str]
    min_chars: int
    max_chars: int


def find_names_by_length(view: IndexView, request: LengthRange) -> list[DeclaredName]:
    """Return at most `MAX_NAMES` names in a range of lengths, without repetition."""
    rows = view.reader.rows(SELECT_NAMES, (*request.languages, request.min_chars, request.max_chars, MAX_NAMES))
    return [DeclaredName(name, kind) for name, kind in rows]


def find_symbols_with_names(view: IndexView, names: Collection[str]) -> list[Symbol]:
    """Return the declarations that have one of these names, without what is around them, by path and place."""
    asked = list(dict.fromkeys(names))[:MAX_ASKED_NAMES]
    return [symbol for name in asked for symbol in view.symbols.find_by_name(name, MAX_SYMBOLS_PER_NAME)]


def find_near_names(view: IndexView, name: str) -> list[str]:
    """Return the declared names that are spelled most like a name, the most similar first.

    Upper and lower case are equal. A name that contains the other one counts as similar.
    """
    low, high = max(1, len(name) - LENGTH_TOLERANCE), len(name) + LENGTH_TOLERANCE
    rows = view.reader.rows(
        "SELECT DISTINCT name FROM symbols WHERE length(name) BETWEEN ? AND ? OR name LIKE ? ESCAPE '\\' LIMIT ?",
        (low, high, f"%{_escape_like(name)}%", MAX_NAMES),
    )
    names: dict[str, str] = {}
    for (declared,) in rows:
        names.setdefault(declared.lower(), declared)
    similar = get_close_matches(name.lower(), names, MAX_NEAR_NAMES, MIN_SIMILARITY)
    containing = sorted((one for one in names if name.lower() in one), key=lambda one: (len(one), one))
    return [names[one] for one in list(dict.fromkeys([*similar, *containing]))[:MAX_NEAR_NAMES]]


def find_paths_ending(view: IndexView, ending: str) -> list[str]:
    """Return the paths of files whose last parts are these: `utils.py` fits `src/utils.py` and not `my_utils.py`."""
    ending = ending.replace("\\", "/").removeprefix("./").lstrip("/")
    rows = view.reader.rows(
        "SELECT path FROM files WHERE path = ? OR path LIKE ? ESCAPE '\\' ORDER BY length(path), path LIMIT ?",
        (ending, f"%/{_escape_like(ending)}", MAX_SUFFIX_PATHS),
    )
    # the comparison of the database ignores case
    return [path for (path,) in rows if f"/{path}".endswith(f"/{ending}")]


def _escape_like(text: str) -> str:
    return "".join(f"\\{char}" if char in "%_\\" else char for char in text)


def list_file_symbols(view: IndexView, path: str) -> list[Symbol]:
    """Return the symbols of a file in their order."""
    entry = view.symbols.find_file(path)
    return view.symbols.list_symbols(entry[0]) if entry else []


def contains_word(view: IndexView, word: str) -> bool:
    """Return whether a text of code contains a word, in whatever case."""
    return any(word.lower() in text.lower() for _, _, text in view.symbols.find_mentions(word))


def find_mentioning_symbols(view: IndexView, name: str) -> list[Symbol]:
    """Return the declarations in whose text a name stands as a whole word. One of them may have this name."""
    whole = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    found = {
        (around.path, around.qualified): around
        for _, around, text in view.symbols.find_mentions(name)
        if around and whole.search(text)
    }
    return sorted(found.values(), key=lambda symbol: (symbol.path, symbol.line))


def read_functions(view: IndexView, name: str, language: str) -> list[str]:
    """Return the texts of at most `MAX_FUNCTIONS` functions and classes with this name in a language."""
    symbols = view.symbols.find_by_name(name, MAX_FUNCTIONS, CALLABLE_KINDS, language)
    return [view.texts.read_body(symbol) for symbol in symbols]


def read_doc_lines(view: IndexView, keys: Iterable[tuple[str, str]]) -> list[str]:
    """Return the first line of the documentation of each declaration, empty where there is none.

    Args:
        view: The index.
        keys: The path and the qualified name of each declaration.
    """
    symbols: list[Symbol | None] = [view.symbols.find_symbol(*key) for key in keys]
    return [read_doc_line(view, symbol) if symbol else "" for symbol in symbols]


def list_symbols_of_kinds(view: IndexView, kinds: Collection[str], folder: str) -> list[Symbol]:
    """Return the symbols of some kinds in a folder and its subfolders, by path and place.

    Args:
        view: The index.
        kinds: The kinds of symbols.
        folder: The folder; an empty text is the workspace folder.
    """
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    symbols = view.symbols.select(
        f"kind IN ({placeholders(len(kinds))}) AND substr(path, 1, ?) = ? ORDER BY path, n",
        (*kinds, len(prefix), prefix),
        lambda symbol: symbol.kind in kinds and symbol.path.startswith(prefix),
    )
    return sorted(symbols, key=lambda symbol: (symbol.path, symbol.n))


def list_code_paths(view: IndexView, folder: str) -> list[str]:
    """Return the paths of the files with code in a folder and its subfolders. An empty text is the workspace folder."""
    paths = set(view.symbols.find_paths_below(folder.rstrip("/")))
    rows = view.reader.rows("SELECT path FROM files WHERE language != ''")
    return sorted(path for (path,) in rows if path in paths)


@dataclass(frozen=True, slots=True)
class SymbolOverview:
    """The relations of a symbol, its signature on one line, and the first line of its documentation."""

    graph: SymbolGraph
    signature: str
    doc_line: str


def read_overview(view: IndexView, symbol: Symbol) -> SymbolOverview:
    """Return all that the index knows about a symbol."""
    return SymbolOverview(build_graph(view, symbol), view.texts.read_signature(symbol), read_doc_line(view, symbol))
