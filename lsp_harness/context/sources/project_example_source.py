"""Examples of similar code from the project: whole declarations that follow the same pattern as the code to change."""

from collections.abc import Sequence

from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.context_source import InstructionSource, SectionTitle, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.sources.related_code_source import find_changed_declaration
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.builder.chunks import find_lead
from lsp_harness.index.declaration_shape import DeclarationHead, find_shape
from lsp_harness.index.query.code_patterns import PATTERN_KINDS, ExampleRequest
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations, qualified_name
from lsp_harness.text.position import Span, decode, encode

REASON = "is a pattern here"
"""The fragment also names the pattern, after a colon."""
EXTRA_CANDIDATES = 8
"""Candidates to read beyond the wanted number, as some do not fit the budget."""


class ProjectExampleSource(InstructionSource):
    """The source of similar examples from the project, at most `context.few_shot_examples`."""

    name = "examples"
    share = Share(("few_shot_budget", "code_budget"))
    order = 10
    reasons = (REASON,)
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
                fragments.append(Fragment(text, cost, example.symbol.path, f"{REASON}: {example.pattern}"))
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
