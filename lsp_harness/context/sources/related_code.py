"""Code related to the code to change: the imports it needs, what it calls, who calls it, and a test of it."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.fragment import Fragment, TokenCounter, total_tokens
from lsp_harness.context.sources.cursor_names import CursorNames, read_span_names
from lsp_harness.context.sources.named_definitions import (
    MAX_LINE_CHARS,
    DefinitionLine,
    find_definitions,
    fit_signatures,
)
from lsp_harness.context.sources.required_imports import find_required_imports
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.declaration_uses import Use, find_uses
from lsp_harness.index.query.related_tests import RelatedTest, find_related_test
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration, find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode, encode

USES_SHARE = 0.4
"""Share of the budget for the test and the uses of the code together."""
TEST_SHARE = 0.4
"""Share of the budget for a whole test, taken from the share of the uses."""


VectorSearch = Callable[[str, str], Awaitable[Sequence[bytes]]]
"""Takes the URI of a document and a task. Returns the digests of the texts in its workspace folder that are most
similar to the task by their embeddings."""


async def no_vector_search(uri: str, task: str) -> Sequence[bytes]:
    """Return nothing, for front ends without an embedding model."""
    return ()


@dataclass(frozen=True, slots=True)
class _IndexAnswer:
    """The answer of the index about the code: definitions of names in it, its uses, and a test."""

    definitions: Sequence[DefinitionLine] = ()
    uses: Sequence[Use] = ()
    test: RelatedTest | None = None


@dataclass(frozen=True, slots=True)
class RelatedCode:
    """Finds related code in the index. Without an index it reads only the file itself.

    Attributes:
        index: The indexes of the workspace folders.
        count: The tokenizer of the model.
        failing_tests: The names of tests that fail. These are preferred.
        vector_search: The search by embeddings.
    """

    index: IndexQuery
    count: TokenCounter
    failing_tests: AbstractSet[str] = frozenset()
    vector_search: VectorSearch = no_vector_search

    async def find_fragments(self, code: CodeSelection, budget: int) -> tuple[Fragment, ...]:
        """Return related code, together at most `budget` tokens: imports, then signatures, then a test and uses.

        If there is too little room, each of them loses its least important lines. Lines are never cut.
        """
        tree = code.tree
        if tree is None or budget <= 0:
            return ()
        names, declarations = (
            read_span_names(tree, code.span),
            find_declarations(tree.language, tree.data, tree.root)[0],
        )
        answer = await self._ask_index(code, names, find_changed_declaration(declarations, code.span), declarations)
        import_lines = [line for line in find_required_imports(tree, code.span) if not find_secrets(encode(line))]
        imports = await self._fit_lines(import_lines, budget, code.path, "imports that it uses")
        left = budget - total_tokens(imports)
        test = answer.test
        tests = await self._fit_test(test, min(left, int(budget * TEST_SHARE)), code.comment) if test else []
        # a use inside the quoted test is quoted already
        uses = [use for use in answer.uses if not (tests and test and test.contains(use))]
        uses_budget = max(0, min(left, int(budget * USES_SHARE)) - total_tokens(tests))
        calls = [*tests, *await self._fit_uses(uses, uses_budget, code.comment)]
        definitions = [*_read_own_definitions(tree, declarations, code, names), *answer.definitions]
        signatures = await fit_signatures(definitions, left - total_tokens(calls), self.count, code.comment)
        return (*imports, *signatures, *calls)

    async def _ask_index(
        self,
        code: CodeSelection,
        names: CursorNames,
        changed: Declaration | None,
        declarations: Sequence[Declaration],
    ) -> _IndexAnswer:
        uri, path = code.document.uri, code.path
        opened = self.index.opened(uri)

        def read(reader: Reader) -> _IndexAnswer:
            view = IndexView(reader, opened)
            symbol = view.symbols.find_symbol(path, qualified_name(declarations, changed)) if changed else None
            uses = find_uses(view, symbol) if symbol else []
            test = find_related_test(view, symbol, uses, self.failing_tests) if symbol else None
            return _IndexAnswer([*find_definitions(view, path, names)], uses, test)

        return await self.index.ask(uri, read, _IndexAnswer(), slow=True)

    async def _fit_lines(self, lines: Sequence[str], budget: int, origin: str, reason: str) -> list[Fragment]:
        """Return as many of the lines as fit, as one fragment."""
        costs = await self.count([f"{line}\n" for line in lines])
        kept_lines = list[str]()
        for line, cost in zip(lines, costs, strict=True):
            if cost <= budget:
                budget -= cost
                kept_lines.append(f"{line}\n")
        if not kept_lines:
            return []
        return [Fragment("".join(kept_lines), sum(await self.count(kept_lines)), origin, reason)]

    async def _fit_test(self, test: RelatedTest, budget: int, comment: str) -> list[Fragment]:
        """Return the whole test, or nothing if it does not fit. Then its use is quoted like any other use."""
        text = f"{comment} {test.path}:{test.line + 1}\n{test.text}\n"
        [cost] = await self.count([text])
        reason = "fails" if test.name in self.failing_tests else "tests it"
        return [Fragment(text, cost, test.path, reason)] if cost <= budget and not find_secrets(encode(text)) else []

    async def _fit_uses(self, uses: Sequence[Use], budget: int, comment: str) -> list[Fragment]:
        fragments = list[Fragment]()
        for use in uses:
            place = f"{comment} {use.path}:{use.number + 1}" + (f", in {use.enclosing}" if use.enclosing else "")
            text = f"{place}\n{use.line}\n"
            [cost] = await self.count([text])
            if cost <= budget:
                budget -= cost
                fragments.append(Fragment(text, cost, use.path, "tests it" if use.is_in_test else "uses it"))
        return fragments


def find_changed_declaration(declarations: Sequence[Declaration], span: Span) -> Declaration | None:
    """Return the outermost declaration whose name is in the span, or else the innermost declaration around the span."""
    outermost = next((item for item in declarations if span.start <= item.name_start < span.end), None)
    enclosing = [item for item in declarations if item.start <= span.start and span.end <= item.end]
    return outermost or (enclosing[-1] if enclosing else None)


def _read_own_definitions(
    tree: SyntaxTree, declarations: Sequence[Declaration], code: CodeSelection, names: CursorNames
) -> Iterator[DefinitionLine]:
    """Yield the declarations of the file itself that the code uses, except those in the code."""
    span = code.span
    first_parts = {name.partition(".")[0] for name in names.names}
    for item in declarations:
        parent = declarations[item.parent] if item.parent >= 0 else None
        is_sibling = parent is not None and parent.kind in TYPE_KINDS and parent.start <= span.start < parent.end
        is_used = item.name in first_parts if parent is None else is_sibling and item.name in names.members
        is_enclosing = item.start <= span.start and span.end <= item.end
        head = tree.data[item.start : item.body_start]
        if not is_used or span.start <= item.start < span.end or find_secrets(head):
            continue
        text = " ".join(decode(head).split()).rstrip("{ ")[:MAX_LINE_CHARS]
        has_no_body = item.body_start >= item.end or item.kind in TYPE_KINDS or is_enclosing
        stub = "" if has_no_body else tree.language.stub
        yield DefinitionLine((1, 0), code.path, item.start, "    " * is_sibling + text + stub)
