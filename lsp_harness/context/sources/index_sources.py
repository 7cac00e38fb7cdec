"""Sources of context from the index: definitions, uses, tests, similar code, patterns, and search results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from lsp_harness.context.context_inputs import CodeSelection, CompletionInputs, WorkspaceScope
from lsp_harness.context.context_source import RELATED_SECTION, CompletionSource, InstructionSource, SectionTitle, Share
from lsp_harness.context.fragment import Fragment, TokenCounter, sum_tokens
from lsp_harness.context.lookup.cursor_names import read_span_names
from lsp_harness.context.lookup.required_imports import find_required_imports
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.builder.chunks import find_lead
from lsp_harness.index.declaration_shape import DeclarationHead, find_shape
from lsp_harness.index.query.code_patterns import PATTERN_KINDS, ExampleRequest
from lsp_harness.index.query.code_search import DeclarationSearch, FoundDeclaration, SimilarCode
from lsp_harness.index.query.declaration_uses import Use
from lsp_harness.index.query.definition_lines import MAX_LINE_CHARS, CursorNames, DefinitionLine
from lsp_harness.index.query.related_tests import DeclarationUsage, RelatedTest
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration, find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode, encode

DEFINITION_REASON = "defines what is used here"


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


MAX_RESULTS = 3
FOUND_REASON = "found for the task"


class SearchResultSource(InstructionSource):
    """The source of search results: whole declarations, or their signatures if they do not fit, the best first.

    The texts come from the index, or from open documents that were edited. Declarations around the code or in it, those
    that the prompt contains already, and copies of them are left out.
    """

    name = "search results"
    share = Share(("related_budget", "code_budget"))
    order = 40
    reasons = (FOUND_REASON,)
    section = RELATED_SECTION

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        code, task, workspace = self._inputs.code, self._inputs.search_text, self._inputs.workspace
        if code.tree is None or workspace is None or not task.strip():
            return ()
        language = code.tree.language
        results = await _search(workspace, code, task)
        fragments = list[Fragment]()
        quoted_texts = [(fragment.origin, _join_lines(fragment.text)) for fragment in quoted]
        for result in results:
            if not result.head:
                continue
            if _is_quoted(result, quoted_texts):
                # copies of this declaration are left out as well
                quoted_texts.append((result.path, _join_lines(result.text)))
                continue
            if len(fragments) == MAX_RESULTS or find_secrets(encode(result.text)):
                continue
            title = f"{code.comment} {result.path}:{result.line + 1}\n"
            # if the prompt contains a part of the declaration already, only its signature is quoted
            has_quoted_part = any(
                origin == result.path and text in _join_lines(result.text) for origin, text in quoted_texts
            )
            forms = [*([] if has_quoted_part else [result.text]), result.head + language.stub]
            texts = [f"{title}{form.rstrip()}\n" for form in forms]
            costs = await self._inputs.count(texts)
            for text, cost in zip(texts, costs, strict=True):
                if cost <= budget:
                    budget -= cost
                    fragments.append(Fragment(text, cost, result.path, FOUND_REASON))
                    quoted_texts.append((result.path, _join_lines(result.text)))
                    break
        return tuple(fragments)


async def _search(workspace: WorkspaceScope, code: CodeSelection, task: str) -> list[FoundDeclaration]:
    """Return the declarations that a search finds, without those around the code or in it."""
    tree, uri, span = code.tree, code.document.uri, code.span
    if tree is None:
        return []
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    own = {
        (code.path, qualified_name(declarations, item))
        for item in declarations
        if item.start < span.end and span.start < item.end
    }
    similar = await workspace.vector_search(uri, task)
    search = DeclarationSearch(task, code.path, tree.language, own, similar)
    return await workspace.index.declarations_about(uri, search)


def _is_quoted(result: FoundDeclaration, quoted_texts: Iterable[tuple[str, str]]) -> bool:
    """Return whether the prompt contains the declaration, its signature, or a copy of it."""
    text = _join_lines(result.text)
    return any(text in other or (origin == result.path and result.head in other) for origin, other in quoted_texts)


def _join_lines(text: str) -> str:
    """Return the text on one line with single spaces."""
    return " ".join(text.split())


SIMILAR_CODE_REASON = "similar code"


class SimilarCodeSource(CompletionSource):
    """The source of similar code: the most similar at its first turn, and more with the tokens that are left."""

    name = "similar code"
    share = Share(takes_rest=True)
    order = 20
    reasons = (SIMILAR_CODE_REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        self._candidates: Sequence[SimilarCode] = ()
        """The most similar code first."""
        self._has_had_turn = False

    async def ask_index(self) -> None:
        document = self._inputs.cursor.document
        line = document.line_of(self._inputs.cursor.offset)
        self._candidates = await self._inputs.index.similar_code(
            self._inputs.cursor.path, document, line, self._inputs.limit
        )

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        if self._has_had_turn:
            return await self._fit_pieces(
                ((code.path, code.text) for code in self._candidates[1:]), SIMILAR_CODE_REASON, budget
            )
        self._has_had_turn = True
        quoted_lines = {line for fragment in quoted for line in fragment.text.split("\n")}
        self._candidates = [item for item in self._candidates if not _is_mostly_in(item.text, quoted_lines)]
        if not self._candidates:
            return ()
        best = self._candidates[0]
        return await self._fit_piece(best.path, best.text, SIMILAR_CODE_REASON, budget)


def _is_mostly_in(text: str, lines: AbstractSet[str]) -> bool:
    """Return whether `lines` contain more than half of the lines of a text."""
    own_lines = [line for line in text.split("\n") if line.strip()]
    return sum(line in lines for line in own_lines) * 2 > len(own_lines)


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
        left = budget - sum_tokens(imports)
        test = usage.test
        tests = await self._fit_test(test, min(left, int(budget * TEST_SHARE)), code.comment) if test else []
        # a use inside the quoted test is quoted already
        uses = [use for use in usage.uses if not (tests and test and test.contains(use))]
        uses_budget = max(0, min(left, int(budget * USES_SHARE)) - sum_tokens(tests))
        calls = [*tests, *await self._fit_uses(uses, uses_budget, code.comment)]
        definitions = [*_read_own_definitions(tree, declarations, code, names), *indexed_definitions]
        signatures = await fit_signatures(definitions, left - sum_tokens(calls), self._inputs.count, code.comment)
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


class DefinitionSource(CompletionSource):
    """The source of definitions of the names around the cursor, as many important lines as fit."""

    name = "definitions"
    share = Share(fraction=0.5)
    order = 10
    reasons = (DEFINITION_REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        self._lines: Sequence[DefinitionLine] = ()

    async def ask_index(self) -> None:
        inputs, cursor = self._inputs, self._inputs.cursor
        self._lines = await inputs.index.definition_lines(cursor.document.uri, cursor.path, inputs.names, inputs.limit)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        return await fit_signatures(self._lines, budget, self._inputs.count, self._inputs.comment)


PATTERN_REASON = "is a pattern here"
"""The fragment also names the pattern, after a colon."""
EXTRA_CANDIDATES = 8
"""Candidates to read beyond the wanted number, as some do not fit the budget."""


class ProjectExampleSource(InstructionSource):
    """The source of similar examples from the project, at most `context.few_shot_examples`."""

    name = "examples"
    share = Share(("few_shot_budget", "code_budget"))
    order = 10
    reasons = (PATTERN_REASON,)
    section = SectionTitle("examples", "How such code is written here, not to be changed")

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        code, max_examples = self._inputs.code, self._inputs.budget.settings.few_shot_examples
        wanted = _describe_pattern(code) if max_examples > 0 else None
        if wanted is None or self._inputs.workspace is None:
            return ()
        examples = await self._inputs.workspace.index.examples(
            code.document.uri, wanted, max_examples + EXTRA_CANDIDATES
        )
        titles = [f"{code.comment} {example.symbol.path}:{example.symbol.line + 1}\n" for example in examples]
        texts = [
            (example, f"{title}{example.text.rstrip()}\n") for example, title in zip(examples, titles, strict=True)
        ]
        # the index leaves secrets out, but the file and the rules may be newer than the index
        texts = [(example, text) for example, text in texts if not find_secrets(encode(text))]
        costs = await self._inputs.count([text for _, text in texts])
        fragments = list[Fragment]()
        for (example, text), cost in zip(texts, costs, strict=True):
            if len(fragments) < max_examples and cost <= budget:
                budget -= cost
                fragments.append(Fragment(text, cost, example.symbol.path, f"{PATTERN_REASON}: {example.pattern}"))
        return fragments


def _describe_pattern(code: CodeSelection) -> ExampleRequest | None:
    """Return the declaration that examples are wanted for, or None.

    It is the changed declaration, or the nearest one around it that can have a pattern.
    """
    tree, span = code.tree, code.span
    if tree is None:
        return None
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    declaration = find_changed_declaration(declarations, span)
    while declaration and declaration.kind not in PATTERN_KINDS:
        declaration = declarations[declaration.parent] if declaration.parent >= 0 else None
    if declaration is None:
        return None
    parent_body = declarations[declaration.parent].body_start if declaration.parent >= 0 else 0
    start = find_lead(tree.data, parent_body, declaration.start)
    before_name = decode(tree.data[start : declaration.name_start])
    head = decode(tree.data[declaration.name_start : declaration.body_start])
    language, name = tree.language.id, declaration.name
    pattern = find_shape(
        DeclarationHead(language, code.path, declaration.kind, name, declaration.bases, before_name, head)
    )
    text = decode(tree.data[start : declaration.end])
    changed_names = _changed_names(declarations, declaration, span)
    return ExampleRequest(code.path, pattern, declaration.name, text, changed_names) if pattern else None


def _changed_names(declarations: Sequence[Declaration], declaration: Declaration, span: Span) -> frozenset[str]:
    """Return the qualified names of the declarations that a change of `span` may touch, or that contain `span`."""
    start, end = min(declaration.start, span.start), max(declaration.end, span.end)
    return frozenset(
        qualified_name(declarations, item) for item in declarations if item.start < end and start < item.end
    )
