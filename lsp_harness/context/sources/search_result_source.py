"""Declarations of the workspace that a search for the words of a task finds."""

from collections.abc import Iterable, Sequence

from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.context_inputs import WorkspaceScope
from lsp_harness.context.context_source import RELATED_SECTION, InstructionSource, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.query.found_declarations import DeclarationSearch, FoundDeclaration
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_name
from lsp_harness.text.position import encode

MAX_RESULTS = 3
REASON = "found for the task"


class SearchResultSource(InstructionSource):
    """The source of search results: whole declarations, or their signatures if they do not fit, the best first.

    The texts come from the index, or from open documents that were edited. Declarations around the code or in it, those
    that the prompt contains already, and copies of them are left out.
    """

    name = "search results"
    share = Share(("related_budget", "code_budget"))
    order = 40
    reasons = (REASON,)
    section = RELATED_SECTION

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        code, task, workspace = self._inputs.code, self._inputs.search_text, self._inputs.workspace
        if code.tree is None or workspace is None or not task.strip():
            return ()
        language = code.tree.language
        results = await _search(workspace, code, task)
        fragments = list[Fragment]()
        quoted_texts = [(fragment.origin, _flatten(fragment.text)) for fragment in quoted]
        for result in results:
            if not result.head:
                continue
            if _is_quoted(result, quoted_texts):
                # copies of this declaration are left out as well
                quoted_texts.append((result.path, _flatten(result.text)))
                continue
            if len(fragments) == MAX_RESULTS or find_secrets(encode(result.text)):
                continue
            title = f"{code.comment} {result.path}:{result.line + 1}\n"
            # if the prompt contains a part of the declaration already, only its signature is quoted
            has_quoted_part = any(
                origin == result.path and text in _flatten(result.text) for origin, text in quoted_texts
            )
            forms = [*([] if has_quoted_part else [result.text]), result.head + language.stub]
            texts = [f"{title}{form.rstrip()}\n" for form in forms]
            costs = await self._inputs.count(texts)
            for text, cost in zip(texts, costs, strict=True):
                if cost <= budget:
                    budget -= cost
                    fragments.append(Fragment(text, cost, result.path, REASON))
                    quoted_texts.append((result.path, _flatten(result.text)))
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
    text = _flatten(result.text)
    return any(text in other or (origin == result.path and result.head in other) for origin, other in quoted_texts)


def _flatten(text: str) -> str:
    """Return the text on one line with single spaces."""
    return " ".join(text.split())
