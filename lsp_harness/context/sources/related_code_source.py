"""Code related to the code to change: the imports it needs, what it calls, who calls it, and a test of it."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.context_source import RELATED_SECTION, InstructionSource, Share
from lsp_harness.context.fragment import Fragment, total_tokens
from lsp_harness.context.lookup.cursor_names import read_span_names
from lsp_harness.context.lookup.required_imports import find_required_imports
from lsp_harness.context.lookup.signature_fitting import DEFINITION_REASON, fit_signatures
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.query.declaration_usage import DeclarationUsage
from lsp_harness.index.query.declaration_uses import Use
from lsp_harness.index.query.definition_lines import MAX_LINE_CHARS, CursorNames, DefinitionLine
from lsp_harness.index.query.related_tests import RelatedTest
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration, find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode, encode

USES_SHARE = 0.4
"""Share of the budget for the test and the uses of the code together."""
TEST_SHARE = 0.4
"""Share of the budget for a whole test, taken from the share of the uses."""


IMPORTS_REASON = "imports that it uses"
USE_REASON = "uses it"
TEST_REASON = "tests it"
FAILURE_REASON = "fails"


class RelatedCodeSource(InstructionSource):
    """The source of code that the selection depends on: imports, signatures, a test and uses.

    If there is too little room, each of them loses its least important lines. Lines are never cut. If the folder
    has no index, only the file itself is read.
    """

    name = "related code"
    share = Share(("related_budget", "code_budget"))
    order = 30
    reasons = (IMPORTS_REASON, DEFINITION_REASON, FAILURE_REASON, TEST_REASON, USE_REASON)
    section = RELATED_SECTION

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        code = self._inputs.code
        tree = code.tree
        if tree is None or self._inputs.workspace is None:
            return ()
        names = read_span_names(tree, code.span)
        declarations = find_declarations(tree.language, tree.data, tree.root)[0]
        changed = find_changed_declaration(declarations, code.span)
        usage = await self._find_usage(qualified_name(declarations, changed)) if changed else DeclarationUsage()
        index = self._inputs.workspace.index
        indexed_definitions = await index.definition_lines(code.document.uri, code.path, names)
        import_lines = [line for line in find_required_imports(tree, code.span) if not find_secrets(encode(line))]
        imports = await self._fit_lines(import_lines, budget, code.path, IMPORTS_REASON)
        left = budget - total_tokens(imports)
        test = usage.test
        tests = await self._fit_test(test, min(left, int(budget * TEST_SHARE)), code.comment) if test else []
        # a use inside the quoted test is quoted already
        uses = [use for use in usage.uses if not (tests and test and test.contains(use))]
        uses_budget = max(0, min(left, int(budget * USES_SHARE)) - total_tokens(tests))
        calls = [*tests, *await self._fit_uses(uses, uses_budget, code.comment)]
        definitions = [*_read_own_definitions(tree, declarations, code, names), *indexed_definitions]
        signatures = await fit_signatures(definitions, left - total_tokens(calls), self._inputs.count, code.comment)
        return (*imports, *signatures, *calls)

    async def _find_usage(self, qualified_name: str) -> DeclarationUsage:
        code, workspace = self._inputs.code, self._inputs.workspace
        if workspace is None:
            return DeclarationUsage()
        return await workspace.index.usage(code.document.uri, code.path, qualified_name, workspace.failing_tests)

    @property
    def _failing_tests(self) -> AbstractSet[str]:
        return self._inputs.workspace.failing_tests if self._inputs.workspace else frozenset()

    async def _fit_lines(self, lines: Sequence[str], budget: int, origin: str, reason: str) -> list[Fragment]:
        """Return as many of the lines as fit, as one fragment."""
        costs = await self._inputs.count([f"{line}\n" for line in lines])
        kept_lines = list[str]()
        for line, cost in zip(lines, costs, strict=True):
            if cost <= budget:
                budget -= cost
                kept_lines.append(f"{line}\n")
        if not kept_lines:
            return []
        return [Fragment("".join(kept_lines), sum(await self._inputs.count(kept_lines)), origin, reason)]

    async def _fit_test(self, test: RelatedTest, budget: int, comment: str) -> list[Fragment]:
        """Return the whole test, or nothing if it does not fit. Then its use is quoted like any other use."""
        text = f"{comment} {test.path}:{test.line + 1}\n{test.text}\n"
        [cost] = await self._inputs.count([text])
        reason = FAILURE_REASON if test.name in self._failing_tests else TEST_REASON
        return [Fragment(text, cost, test.path, reason)] if cost <= budget and not find_secrets(encode(text)) else []

    async def _fit_uses(self, uses: Sequence[Use], budget: int, comment: str) -> list[Fragment]:
        fragments = list[Fragment]()
        for use in uses:
            place = f"{comment} {use.path}:{use.number + 1}" + (f", in {use.enclosing}" if use.enclosing else "")
            text = f"{place}\n{use.line}\n"
            [cost] = await self._inputs.count([text])
            if cost <= budget:
                budget -= cost
                fragments.append(Fragment(text, cost, use.path, TEST_REASON if use.is_in_test else USE_REASON))
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
