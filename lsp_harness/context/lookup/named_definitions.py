"""The definitions that names around a cursor refer to in other files, as lines of signatures, read from the index."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.lookup import receiver_types
from lsp_harness.context.lookup.cursor_names import CursorNames
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

MAX_DEFINITIONS = 24
"""Most definitions to read, those of the nearest names first."""
MAX_RECEIVERS = 12
"""Most names whose types are looked up."""
MAX_LINE_CHARS = 200
"""Most characters of a line of a definition."""
MAX_IMPORTABLE_NAMES = 60
"""Most names of a module to list while the user writes an import of it."""
DEFINITION_REASON = "defines what is used here"
CONSTRUCTORS = frozenset({"__init__", "constructor", "new", "initialize", "__construct"})


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A line of a definition.

    Attributes:
        rank: The importance: lines of a lower rank are kept longer.
        path: The file of the definition.
        start: The byte offset of the definition in its file.
        text: The text of the line.
    """

    rank: tuple[int, int]
    path: str
    start: int
    text: str


def find_definitions(view: IndexView, path: str, names: CursorNames) -> Iterator[DefinitionLine]:
    """Yield the declarations that names refer to, a line for each declaration and for each of its members.

    While the user writes an import, the first line lists the names of the module.
    """
    comment = names.language.comment or "#"
    importable: dict[str, dict[str, None]] = {}
    for symbol in view.find_module_symbols(path, names.language.id, names.module) if names.module else ():
        if symbol.name not in names.imported and symbol.name[:1] != "_":
            importable.setdefault(symbol.path, {})[symbol.name] = None
    for origin, exported_names in importable.items():
        listed = ", ".join([*exported_names][:MAX_IMPORTABLE_NAMES])
        yield DefinitionLine((0, 0), origin, 0, f"{comment} {names.module} has {listed}")
    named = islice(_without_repetition(_find_named(view, path, names)), MAX_DEFINITIONS)
    receivers = names.names[:MAX_RECEIVERS]
    types = receiver_types.find_receiver_types(view, path, names.language.id, names.text, receivers)
    for number, symbol in enumerate(_without_repetition(chain(named, types)), 1):
        yield from _read_definition(view, symbol, number, names)


def _find_named(view: IndexView, path: str, names: CursorNames) -> Iterator[Symbol]:
    """Yield the declarations of names, those of unused imports and base types first."""
    for name in (*names.unused_imports, *names.bases, *names.names):
        head, _, rest = name.partition(".")
        yield from view.find_definitions(path, head) or (
            view.find_module_member(path, head, rest.split(".")[0]) if rest else []
        )


def _without_repetition(symbols: Iterable[Symbol]) -> Iterator[Symbol]:
    seen_ids: set[tuple[int, int]] = set()
    for symbol in symbols:
        if (symbol.file, symbol.n) not in seen_ids:
            seen_ids.add((symbol.file, symbol.n))
            yield symbol


def _read_definition(view: IndexView, symbol: Symbol, number: int, names: CursorNames) -> Iterator[DefinitionLine]:
    """Yield the line of a declaration and those of its members, ranked by how likely the user needs them."""
    yield DefinitionLine((0, number), symbol.path, symbol.start, _read_signature(view, symbol))
    if symbol.kind not in TYPE_KINDS:
        return
    for member in view.symbols.find_members(symbol):
        if member.kind in TYPE_KINDS:
            continue
        if member.name in names.members:
            rank = 1
        elif not names.words.isdisjoint(split_words(member.name).lower().split()):
            rank = 2
        elif member.kind == "constructor" or member.name in CONSTRUCTORS:
            rank = 3
        else:
            rank = 5 if member.name.startswith("_") else 4
        yield DefinitionLine((rank, number), member.path, member.start, "    " + _read_signature(view, member))


def _read_signature(view: IndexView, symbol: Symbol) -> str:
    """Return the signature, with a stub in place of a body."""
    text = view.texts.read_signature(symbol).rstrip("{ ")
    text = text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1] + "…"
    language = language_for(symbol.language, symbol.path)
    has_no_body = symbol.body >= symbol.end or symbol.kind in TYPE_KINDS
    return text if has_no_body or language is None else text + language.stub


async def fit_signatures(
    lines: Iterable[DefinitionLine], budget: int, count: TokenCounter, comment: str
) -> list[Fragment]:
    """Return the most important lines that fit the budget.

    Args:
        lines: The lines of definitions.
        budget: The most tokens of all fragments together.
        count: The tokenizer of the model.
        comment: The marker of a line comment, for the path above each fragment.

    Returns:
        A fragment for each file. Their order does not depend on the cursor, so that the prompt stays the same.
    """
    ranked = sorted(set(lines), key=lambda line: (line.rank, line.path, line.start))
    paths = sorted({line.path for line in ranked})
    costs = await count([*(line.text + "\n" for line in ranked), *(f"{comment} {path}\n" for path in paths)])
    title_costs = dict(zip(paths, costs[len(ranked) :], strict=True))
    lines_by_path: dict[str, list[DefinitionLine]] = {}
    tokens_by_path: Counter[str] = Counter()
    for line, cost in zip(ranked, costs, strict=False):
        cost += title_costs[line.path] if line.path not in lines_by_path else 0
        if cost <= budget:
            budget -= cost
            tokens_by_path[line.path] += cost
            lines_by_path.setdefault(line.path, []).append(line)
    fragments: list[Fragment] = []
    for path in sorted(lines_by_path):
        in_file_order = sorted(lines_by_path[path], key=lambda line: line.start)
        text = f"{comment} {path}\n" + "".join(line.text + "\n" for line in in_file_order)
        fragments.append(Fragment(text, tokens_by_path[path], path, DEFINITION_REASON))
    return fragments
