"""How code like that which is to be changed is written elsewhere in the project: whole declarations that are built alike."""

from collections.abc import Sequence

from lsp_harness.context.fragment import Fragment
from lsp_harness.context.sources.related_code import Related, subject
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.build.chunks import find_lead
from lsp_harness.index.declaration_shape import DeclarationHead, find_shape
from lsp_harness.index.query import code_patterns
from lsp_harness.index.query.code_patterns import PATTERN_KINDS, Example, ExampleRequest
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode, encode

TRIED = 8
"""Examples that are counted, for one that fits."""


async def examples(
    related: Related, document: Document, tree: SyntaxTree, span: Span, path: str, budget: int, most: int
) -> tuple[Fragment, ...]:
    """At most so many, the likest first, together at most `budget` tokens; one that does not fit whole is left out. They are read
    off the index that `related` asks."""
    wanted = _wanted(tree, span, path) if budget > 0 and most > 0 else None
    if wanted is None:
        return ()

    def read(reader: Reader) -> list[Example]:
        return code_patterns.find_examples(reader, wanted, most + TRIED)

    found = await related.known.ask(document.uri, read, list[Example](), slow=True)
    comment = tree.language.comment or "#"
    # a file may be newer than the index, and the rules for secrets too
    texts = [(one, f"{comment} {one.symbol.path}:{one.symbol.line + 1}\n{one.text.rstrip()}\n") for one in found]
    texts = [(one, text) for one, text in texts if not find_secrets(encode(text))]
    costs = await related.count([text for _, text in texts])
    kept = list[Fragment]()
    for (one, text), cost in zip(texts, costs, strict=True):
        if len(kept) < most and cost <= budget:
            budget -= cost
            kept.append(Fragment(text, cost, one.symbol.path, f"is a pattern here: {one.pattern}"))
    return tuple(kept)


def _wanted(tree: SyntaxTree, span: Span, path: str) -> ExampleRequest | None:
    """The declaration that the change is about, or the next one around it that patterns are made of; None where nothing tells
    what it is like."""
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    one = subject(declarations, span)
    while one and one.kind not in PATTERN_KINDS:
        one = declarations[one.parent] if one.parent >= 0 else None
    if one is None:
        return None
    start = find_lead(tree.data, declarations[one.parent].body_start if one.parent >= 0 else 0, one.start)
    before, head = decode(tree.data[start : one.name_start]), decode(tree.data[one.name_start : one.body_start])
    its = find_shape(DeclarationHead(tree.language.id, path, one.kind, one.name, one.bases, before, head))
    text = decode(tree.data[start : one.end])
    return ExampleRequest(path, its, one.name, text, _changed(declarations, one, span)) if its else None


def _changed(declarations: Sequence[Declaration], one: Declaration, span: Span) -> frozenset[str]:
    """The qualified names of what the change may touch, and of what is around it."""
    begin, end = min(one.start, span.start), max(one.end, span.end)
    return frozenset(
        qualified_name(declarations, each) for each in declarations if each.start < end and begin < each.end
    )
