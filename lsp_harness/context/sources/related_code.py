"""What is related to code that is to be changed: the imports it needs, what it calls, who calls it, and a test of it, within a budget."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.sources.callers import Use, find_uses
from lsp_harness.context.sources.cursor_names import CursorNames, read_span_names
from lsp_harness.context.sources.named_definitions import (
    MAX_LINE_CHARS,
    DefinitionLine,
    find_definitions,
    fit_signatures,
)
from lsp_harness.context.sources.related_tests import RelatedTest, find_related_test
from lsp_harness.context.sources.required_imports import find_required_imports
from lsp_harness.files.secrets import spans
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import View
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import TYPES, Declaration, declared, qualified
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode, encode

USES = 0.4
"""Of the budget, at most, for where the code is used."""
TEST = 0.4
"""Of the budget, at most, for a test of it that is shown whole; of what uses have."""


VectorSearch = Callable[[str, str], Awaitable[Sequence[bytes]]]
"""Of the URI of a document and a task: digests of the texts in its folder whose vectors are most like the task's."""


async def no_vector_search(uri: str, task: str) -> Sequence[bytes]:
    """Where nobody knows what words mean."""
    return ()


@dataclass(frozen=True, slots=True)
class RelatedCode:
    """Asks the index of the folder that a document is in; without one a file tells of itself."""

    known: IndexQuery
    count: TokenCounter
    failing: AbstractSet[str] = frozenset()
    """Names of tests that fail: what they say counts most."""
    near: VectorSearch = no_vector_search

    async def of(
        self, document: Document, tree: SyntaxTree, span: Span, path: str, budget: int
    ) -> tuple[Fragment, ...]:
        """Whole lines, together at most `budget` tokens: imports first, then signatures, then uses; where there is too little
        room, each loses its least important lines."""
        if budget <= 0:
            return ()
        near, declarations = read_span_names(tree, span), declared(tree.language, tree.data, tree.root)[0]
        opened = self.known.opened(document.uri)
        changed = find_changed_declaration(declarations, span)

        def read(reader: Reader) -> tuple[list[DefinitionLine], list[Use], RelatedTest | None]:
            view = View(reader, opened)
            symbol = view.symbol(path, qualified(declarations, changed)) if changed else None
            used = find_uses(view, symbol) if symbol else []
            test = find_related_test(view, symbol, used, self.failing) if symbol else None
            return [*find_definitions(view, path, near)], used, test

        lines, used, test = await self.known.ask(document.uri, read, ([], [], None), slow=True)
        comment = tree.language.comment or "#"
        own = [*_own(tree, declarations, span, path, near)]
        brought = [line for line in find_required_imports(tree, span) if not spans(encode(line))]
        imports = await self._fitting(brought, budget, path, "imports that it uses")
        left = budget - _tokens(imports)
        shown = await self._test(test, min(left, int(budget * TEST)), comment) if test else []
        # where the test is shown whole its line is in it
        used = [one for one in used if not (shown and test and test.has(one))]
        calls = await self._uses(used, max(0, min(left, int(budget * USES)) - _tokens(shown)), comment)
        calls = [*shown, *calls]
        said = await fit_signatures([*own, *lines], left - _tokens(calls), self.count, comment)
        return (*imports, *said, *calls)

    async def _fitting(self, lines: Sequence[str], budget: int, origin: str, reason: str) -> list[Fragment]:
        """As many of the lines as fit, in one piece."""
        costs = await self.count([f"{line}\n" for line in lines])
        kept = list[str]()
        for line, cost in zip(lines, costs, strict=True):
            if cost <= budget:
                budget -= cost
                kept.append(f"{line}\n")
        return [Fragment("".join(kept), sum(await self.count(kept)), origin, reason)] if kept else []

    async def _test(self, test: RelatedTest, budget: int, comment: str) -> list[Fragment]:
        """The whole of it, or else nothing: its head and the line that matters are shown as those of any use."""
        text = f"{comment} {test.path}:{test.line + 1}\n{test.text}\n"
        [cost] = await self.count([text])
        why = "fails" if test.name in self.failing else "tests it"
        return [Fragment(text, cost, test.path, why)] if cost <= budget and not spans(encode(text)) else []

    async def _uses(self, used: Sequence[Use], budget: int, comment: str) -> list[Fragment]:
        found = list[Fragment]()
        for one in used:
            where = f"{comment} {one.path}:{one.number + 1}" + (f", in {one.around}" if one.around else "")
            text = f"{where}\n{one.line}\n"
            [cost] = await self.count([text])
            if cost <= budget:
                budget -= cost
                found.append(Fragment(text, cost, one.path, "tests it" if one.test else "uses it"))
        return found


def find_changed_declaration(declarations: Sequence[Declaration], span: Span) -> Declaration | None:
    """What is to be changed: the outermost declaration that begins in it, or else the innermost around it."""
    begun = next((one for one in declarations if span.start <= one.named < span.end), None)
    around = [one for one in declarations if one.start <= span.start and span.end <= one.end]
    return begun or (around[-1] if around else None)


def _own(
    tree: SyntaxTree, declarations: Sequence[Declaration], span: Span, path: str, near: CursorNames
) -> Iterator[DefinitionLine]:
    """What the file itself declares of the names that are used in the span, outside of it."""
    heads = {name.partition(".")[0] for name in near.names}
    for one in declarations:
        parent = declarations[one.parent] if one.parent >= 0 else None
        beside = parent is not None and parent.kind in TYPES and parent.start <= span.start < parent.end
        used = one.name in heads if parent is None else beside and one.name in near.members
        around = one.start <= span.start and span.end <= one.end
        head = tree.data[one.start : one.body]
        if not used or span.start <= one.start < span.end or spans(head):
            continue
        text = " ".join(decode(head).split()).rstrip("{ ")[:MAX_LINE_CHARS]
        whole = one.body >= one.end or one.kind in TYPES or around
        yield DefinitionLine((1, 0), path, one.start, "    " * beside + text + ("" if whole else tree.language.stub))


def _tokens(fragments: Sequence[Fragment]) -> int:
    return sum(fragment.tokens for fragment in fragments)
