"""What is related to code that is to be changed: the imports it needs, what it calls, who calls it, and a test of it, within a budget."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.context.fragment import Count, Fragment
from lsp_harness.context.sources.callers import Use, uses
from lsp_harness.context.sources.cursor_names import Around, within
from lsp_harness.context.sources.named_definitions import WIDTH, Line, definitions, signatures
from lsp_harness.context.sources.related_tests import Test, tested
from lsp_harness.context.sources.required_imports import needed
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import IndexView
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration, find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode, encode

USES = 0.4
"""Of the budget, at most, for where the code is used."""
TEST = 0.4
"""Of the budget, at most, for a test of it that is shown whole; of what uses have."""


Near = Callable[[str, str], Awaitable[Sequence[bytes]]]
"""Of the URI of a document and a task: digests of the texts in its folder whose vectors are most like the task's."""


async def nothing(uri: str, task: str) -> Sequence[bytes]:
    """Where nobody knows what words mean."""
    return ()


@dataclass(frozen=True, slots=True)
class Related:
    """Asks the index of the folder that a document is in; without one a file tells of itself."""

    known: IndexQuery
    count: Count
    failing: AbstractSet[str] = frozenset()
    """Names of tests that fail: what they say counts most."""
    near: Near = nothing

    async def of(
        self, document: Document, tree: SyntaxTree, span: Span, path: str, budget: int
    ) -> tuple[Fragment, ...]:
        """Whole lines, together at most `budget` tokens: imports first, then signatures, then uses; where there is too little
        room, each loses its least important lines."""
        if budget <= 0:
            return ()
        near, declarations = within(tree, span), find_declarations(tree.language, tree.data, tree.root)[0]
        opened = self.known.opened(document.uri)
        changed = subject(declarations, span)

        def read(reader: Reader) -> tuple[list[Line], list[Use], Test | None]:
            view = IndexView(reader, opened)
            symbol = view.symbols.find_symbol(path, qualified_name(declarations, changed)) if changed else None
            used = uses(view, symbol) if symbol else []
            test = tested(view, symbol, used, self.failing) if symbol else None
            return [*definitions(view, path, near)], used, test

        lines, used, test = await self.known.ask(document.uri, read, ([], [], None), slow=True)
        comment = tree.language.comment or "#"
        own = [*_own(tree, declarations, span, path, near)]
        brought = [line for line in needed(tree, span) if not find_secrets(encode(line))]
        imports = await self._fitting(brought, budget, path, "imports that it uses")
        left = budget - _tokens(imports)
        shown = await self._test(test, min(left, int(budget * TEST)), comment) if test else []
        # where the test is shown whole its line is in it
        used = [one for one in used if not (shown and test and test.has(one))]
        calls = await self._uses(used, max(0, min(left, int(budget * USES)) - _tokens(shown)), comment)
        calls = [*shown, *calls]
        said = await signatures([*own, *lines], left - _tokens(calls), self.count, comment)
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

    async def _test(self, test: Test, budget: int, comment: str) -> list[Fragment]:
        """The whole of it, or else nothing: its head and the line that matters are shown as those of any use."""
        text = f"{comment} {test.path}:{test.line + 1}\n{test.text}\n"
        [cost] = await self.count([text])
        why = "fails" if test.name in self.failing else "tests it"
        return [Fragment(text, cost, test.path, why)] if cost <= budget and not find_secrets(encode(text)) else []

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


def subject(declarations: Sequence[Declaration], span: Span) -> Declaration | None:
    """What is to be changed: the outermost declaration that begins in it, or else the innermost around it."""
    begun = next((one for one in declarations if span.start <= one.name_start < span.end), None)
    around = [one for one in declarations if one.start <= span.start and span.end <= one.end]
    return begun or (around[-1] if around else None)


def _own(tree: SyntaxTree, declarations: Sequence[Declaration], span: Span, path: str, near: Around) -> Iterator[Line]:
    """What the file itself declares of the names that are used in the span, outside of it."""
    heads = {name.partition(".")[0] for name in near.names}
    for one in declarations:
        parent = declarations[one.parent] if one.parent >= 0 else None
        beside = parent is not None and parent.kind in TYPE_KINDS and parent.start <= span.start < parent.end
        used = one.name in heads if parent is None else beside and one.name in near.members
        around = one.start <= span.start and span.end <= one.end
        head = tree.data[one.start : one.body_start]
        if not used or span.start <= one.start < span.end or find_secrets(head):
            continue
        text = " ".join(decode(head).split()).rstrip("{ ")[:WIDTH]
        whole = one.body_start >= one.end or one.kind in TYPE_KINDS or around
        yield Line((1, 0), path, one.start, "    " * beside + text + ("" if whole else tree.language.stub))


def _tokens(fragments: Sequence[Fragment]) -> int:
    return sum(fragment.tokens for fragment in fragments)
