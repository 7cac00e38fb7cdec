"""Completes the answer of a model that wrote only the changed part of a function, not all of the code it was given.

Small models often leave out the head of a function, or the imports above it. Such an answer would remove them.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.coding.candidates.sampling import reindent
from lsp_harness.syntax import scope
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode

FUNCTION_KINDS = ("function", "method", "constructor")
STRING_STARTS = ('"""', "'''", '"', "'", 'r"""')
BRACE_INDENT = "    "
TITLE = re.compile(r"^[ \t]*(?:#|//|--)[ \t]*[\w./-]+\.\w+:\d+(?:, in [^\n]*)?\n", re.MULTILINE)
"""Matches the title of related code, which prompts have and programs have not."""


@dataclass(frozen=True)
class AskedCode:
    """The code that a model is asked to write again.

    Attributes:
        tree: The syntax tree of the document, or None if it has none.
        span: The place of the code, in whole lines.
    """

    tree: SyntaxTree | None
    span: Span

    @cached_property
    def function(self) -> Declaration | None:
        """The only function of the code. It is found once for all answers."""
        return _find_only_function(self.tree, self.span) if self.tree else None

    def complete(self, answer: str) -> str:
        """Return an answer with what it left out, and without the titles of related code that it repeats.

        An answer is only completed if the code has a single function, with nothing but imports and the like around it:

        - An answer without any declaration is the body of that function. A docstring is kept if it has none.
        - An answer that is only that function, changed, leaves the lines before it as they are.

        Args:
            answer: The answer, with LF line ends.
        """
        answer = TITLE.sub("", answer)
        tree, span, function = self.tree, self.span, self.function
        if tree is None or function is None:
            return answer
        document = Document.from_text(tree.document.uri, answer, language=tree.document.language)
        answered = find_outermost(document)
        if not answered:
            return _replace_body(tree, span, function, answer) or answer
        head = _decode(tree, Span(span.start, function.start))
        has_same_name = [item.name for item in answered] == [function.name]
        is_only_function = has_same_name and not answer[: answered[0].start].strip()
        if head.strip() and is_only_function and answer.strip() not in _decode(tree, span):
            return head + answer.lstrip("\n")
        return answer


def _find_only_function(tree: SyntaxTree, span: Span) -> Declaration | None:
    inside = [
        item
        for item in find_declarations(tree.language, tree.data, tree.root)[0]
        if span.start <= item.start and item.end <= span.end
    ]
    first = inside[0] if inside else None
    if first is None or first.kind not in FUNCTION_KINDS or any(item.start >= first.end for item in inside):
        return None
    return first


def find_outermost(text: Document) -> list[Declaration]:
    """Return the outermost declarations of a text, such as an answer; none if it has no grammar."""
    tree = parse(text)
    declarations = find_declarations(tree.language, tree.data, tree.root)[0] if tree else []
    return [item for item in declarations if item.parent < 0]


def _replace_body(tree: SyntaxTree, span: Span, function: Declaration, code: str) -> str:
    """Return the code of a span with another body of its function, or an empty text if the body cannot be found."""
    document = tree.document
    found = scope.declared_function(tree, function.name_start)
    if found is None or found.body_start >= found.end:
        return ""
    body = _decode(tree, Span(found.body_start, found.end))
    line_start = document.line_starts[document.line_of(found.body_start)]
    indent = _decode(tree, Span(line_start, found.body_start))
    before, after = _decode(tree, Span(span.start, found.body_start)), _decode(tree, Span(found.end, span.end))
    if body.startswith("{"):
        outer = _indent_of(indent)
        inner = [_indent_of(line) for line in body.split("\n")[1:] if line.strip("} \t")]
        lines = reindent(code.strip("\n"), (inner or [outer + BRACE_INDENT])[0] + "x")
        return f"{before}{{\n{lines}\n{outer}}}{after}"
    if indent.strip():
        # the body stands on the line of the head
        return ""
    if body.startswith(STRING_STARTS) and not code.lstrip().startswith(STRING_STARTS):
        docstring = scope.statement_at(tree, found.body_start, found.body_start + 1)
        before += _decode(tree, docstring) + f"\n{indent}" if docstring else ""
    return before + reindent(code.strip("\n"), indent + "x").removeprefix(indent) + after


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _decode(tree: SyntaxTree, span: Span) -> str:
    return decode(tree.data[span.start : span.end]).replace("\r\n", "\n")
