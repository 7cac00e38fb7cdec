"""How code like that which is to be changed is written elsewhere in the project: whole declarations that are built alike."""

from collections.abc import Sequence

from lsp_harness.context.fragment import Fragment
from lsp_harness.context.sources.related_code import RelatedCode, find_changed_declaration
from lsp_harness.files.secrets import spans
from lsp_harness.index.build.chunks import lead
from lsp_harness.index.declaration_shape import shape
from lsp_harness.index.query import code_patterns
from lsp_harness.index.query.code_patterns import KINDS, Example, Wanted
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import Declaration, declared, qualified
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode, encode

TRIED = 8
"""Examples that are counted, for one that fits."""


async def find_examples(
    related: RelatedCode, document: Document, tree: SyntaxTree, span: Span, path: str, budget: int, most: int
) -> tuple[Fragment, ...]:
    """At most so many, the likest first, together at most `budget` tokens; one that does not fit whole is left out. They are read
    off the index that `related` asks."""
    wanted = _wanted(tree, span, path) if budget > 0 and most > 0 else None
    if wanted is None:
        return ()

    def read(reader: Reader) -> list[Example]:
        return code_patterns.examples(reader, wanted, most + TRIED)

    found = await related.known.ask(document.uri, read, list[Example](), slow=True)
    comment = tree.language.comment or "#"
    # a file may be newer than the index, and the rules for secrets too
    texts = [(one, f"{comment} {one.symbol.path}:{one.symbol.line + 1}\n{one.text.rstrip()}\n") for one in found]
    texts = [(one, text) for one, text in texts if not spans(encode(text))]
    costs = await related.count([text for _, text in texts])
    kept = list[Fragment]()
    for (one, text), cost in zip(texts, costs, strict=True):
        if len(kept) < most and cost <= budget:
            budget -= cost
            kept.append(Fragment(text, cost, one.symbol.path, f"is a pattern here: {one.pattern}"))
    return tuple(kept)


def _wanted(tree: SyntaxTree, span: Span, path: str) -> Wanted | None:
    """The declaration that the change is about, or the next one around it that patterns are made of; None where nothing tells
    what it is like."""
    declarations = declared(tree.language, tree.data, tree.root)[0]
    one = find_changed_declaration(declarations, span)
    while one and one.kind not in KINDS:
        one = declarations[one.parent] if one.parent >= 0 else None
    if one is None:
        return None
    start = lead(tree.data, declarations[one.parent].body if one.parent >= 0 else 0, one.start)
    before, head = decode(tree.data[start : one.named]), decode(tree.data[one.named : one.body])
    its = shape(tree.language.id, path, one.kind, one.name, one.bases, before, head)
    text = decode(tree.data[start : one.end])
    return Wanted(path, its, one.name, text, _changed(declarations, one, span)) if its else None


def _changed(declarations: Sequence[Declaration], one: Declaration, span: Span) -> frozenset[str]:
    """The qualified names of what the change may touch, and of what is around it."""
    begin, end = min(one.start, span.start), max(one.end, span.end)
    return frozenset(qualified(declarations, each) for each in declarations if each.start < end and begin < each.end)
