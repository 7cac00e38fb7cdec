"""What else in the workspace has to do with a task: the declarations that its words, or what they mean, find, each once, within a
budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsp_harness.context.fragment import Fragment
from lsp_harness.context.sources.named_definitions import MAX_LINE_CHARS
from lsp_harness.context.sources.related_code import RelatedCode
from lsp_harness.files.secrets import spans
from lsp_harness.index.index_view import View
from lsp_harness.index.query.code_search import Hit, Search
from lsp_harness.store.database import Reader
from lsp_harness.syntax.languages import Language, language_for
from lsp_harness.syntax.symbols.declarations import declared, qualified
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, encode

MOST = 3
"""Declarations that are shown."""
HITS = 20
"""That are looked at for them."""
SECONDS = 0.5
"""A search may take: whoever is shown what it finds waits for an edit, which takes seconds."""
REASON = "found for the task"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A declaration: its `text`, all of it, and its `head`, which is its signature on a line."""

    path: str
    line: int
    text: str
    head: str


async def find_search_context(
    related: RelatedCode,
    document: Document,
    tree: SyntaxTree,
    span: Span,
    path: str,
    task: str,
    budget: int,
    shown: Sequence[Fragment],
) -> tuple[Fragment, ...]:
    """Whole declarations, or their signatures where there is no room for more, the best first, together at most `budget` tokens;
    none that the code of `span` is part of, has in it, or that is `shown` already. They are as the index has them, those of edited texts as they are."""
    if budget <= 0 or not task.strip():
        return ()
    declarations = declared(tree.language, tree.data, tree.root)[0]
    own = {
        (path, qualified(declarations, one)) for one in declarations if one.start < span.end and span.start < one.end
    }

    near, opened = await related.near(document.uri, task), related.known.opened(document.uri)

    def read(reader: Reader) -> list[_Piece]:
        view, hits = View(reader, opened), Search(reader).search(task, HITS, near, beside=path, seconds=SECONDS)
        return [
            _piece(view, hit, tree.language)
            for hit in hits
            if hit.symbol and (hit.path, hit.symbol) not in own and _kin(hit.path, tree.language)
        ]

    pieces = await related.known.ask(document.uri, read, list[_Piece](), slow=True)
    kept = list[Fragment]()
    said = [(fragment.origin, _flat(fragment.text)) for fragment in shown]
    for one in pieces:
        if not one.head:
            continue
        if _said(one, said):
            # nor is a copy of it
            said.append((one.path, _flat(one.text)))
            continue
        if len(kept) == MOST or spans(encode(one.text)):
            continue
        where = f"{tree.language.comment or '#'} {one.path}:{one.line + 1}\n"
        # what is in it may be shown already
        whole = () if any(origin == one.path and text in _flat(one.text) for origin, text in said) else (one.text,)
        texts = [f"{where}{text.rstrip()}\n" for text in (*whole, one.head + tree.language.stub)]
        costs = await related.count(texts)
        for text, cost in zip(texts, costs, strict=True):
            if cost <= budget:
                budget -= cost
                kept.append(Fragment(text, cost, one.path, REASON))
                said.append((one.path, _flat(one.text)))
                break
    return tuple(kept)


def _piece(view: View, hit: Hit, language: Language) -> _Piece:
    symbol = view.symbol(hit.path, hit.symbol)
    if symbol is None:
        return _Piece(hit.path, hit.line, "", "")
    head = _flat(view.text(symbol, symbol.start, symbol.body)).rstrip("{ ")[:MAX_LINE_CHARS]
    # a hit is no more than one chunk of it
    text = view.whole(symbol) or "\n".join(view.lines(hit.path, hit.start, hit.end))
    return _Piece(hit.path, symbol.line, text, head)


def _kin(path: str, language: Language) -> bool:
    """Whether a file is in the same language, or one that it is a dialect of: a prompt names one."""
    other = language_for("", path)
    return bool(other and other.queries and other.queries[0] in language.queries)


def _said(one: _Piece, shown: Iterable[tuple[str, str]]) -> bool:
    """Whether it is shown, whole or by its signature, or a copy of it is."""
    text = _flat(one.text)
    return any(text in other or (origin == one.path and one.head in other) for origin, other in shown)


def _flat(text: str) -> str:
    return " ".join(text.split())
