"""Writes new declarations below existing code. What stands there already is not changed."""

import re
from dataclasses import dataclass
from textwrap import dedent
from typing import ClassVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.partial_answer import find_outermost
from lsp_harness.coding.candidates.sampling import reindent
from lsp_harness.coding.instruct import Instruct, Rewriter
from lsp_harness.inference.grammar import find_code_block
from lsp_harness.inference.prompt_ceilings import PromptName
from lsp_harness.syntax.scope import enclosing_class, enclosing_function
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration, find_declarations
from lsp_harness.syntax.test_checks import count_checks
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import Span, decode, encode

NEW_MEMBER = re.compile(
    r"\b(?:add|write|create|implement|needs?|wants?|has no|have no|but no|missing)\s+(?:\S+\s+){0,5}?(?:methods?|"
    r"getter|setter)\b",
    re.IGNORECASE,
)
"""Matches a prompt that asks for a new method of a type."""


@dataclass(slots=True)
class CodeWriter(Rewriter):
    """Generates new code (see `CandidateSource`)."""

    name: ClassVar[PromptName] = "new code"
    system: ClassVar[str] = (
        "You write new code for a file. Its present code is an example. Answer with the new code only, in one code "
        "block and nothing else. Do not repeat the present code."
    )

    def _parse_edit(self, answer: str) -> Edit | None:
        """Return the edit that adds an answer, or None if it declares nothing new, or something that is there."""
        document, code = self.context.document, find_code_block(to_lf(answer))
        if code is None or not code.strip():
            return None
        names = {
            item.name for item in find_outermost(Document.from_text(document.uri, code, language=document.language))
        }
        present = {item.name for item in find_outermost(document)}
        if not names or names & present:
            return None
        offset = self._find_end()
        end = "" if document.data[offset:] else "\n"
        text = "\n\n\n" + code.strip("\n") + end
        return Edit(offset, offset, encode(text.replace("\n", document.newline)))

    def _find_end(self) -> int:
        """Return the end of the last line of the outermost declaration around the span."""
        document, end = self.context.document, self.span.end
        if self.tree:
            outer = enclosing_class(self.tree, self.span.start) or enclosing_function(self.tree, self.span.start)
            end = max(end, outer.end if outer else 0)
        return _find_line_end(document, Span(self.span.start, end))

    def _add_below(self, code: str) -> Edit:
        """Return the edit that adds code below the last line of the span, with the indentation of its first line."""
        document, span = self.context.document, self.span
        offset, start = _find_line_end(document, span), document.line_starts[document.line_of(span.start)]
        body = reindent(code.strip("\n"), decode(document.data[start : span.end]))
        text = f"\n\n{body}" + ("" if document.data[offset:] else "\n")
        return Edit(offset, offset, encode(text.replace("\n", document.newline)))


def _find_line_end(document: Document, span: Span) -> int:
    """Return the end of the last line of a span."""
    return document.line_span(document.line_of(max(span.start, span.end - 1)))[1]


@dataclass(slots=True)
class NewTestWriter(CodeWriter):
    """Generates tests (see `CandidateSource`)."""

    name: ClassVar[PromptName] = "new test"
    system: ClassVar[str] = (
        "You write tests. The present test is an example of their form. Answer with the new tests only, in one code "
        "block and nothing else. Do not repeat the present test."
    )

    def _parse_edit(self, answer: str) -> Edit | None:
        """Return the edit that adds an answer, or None if it has no new test that checks something."""
        document, code = self.context.document, find_code_block(to_lf(answer))
        if code is None or self.tree is None:
            return None
        edit = self._add_below(code)
        new_text = Document.from_text(document.uri, apply(document.data, [edit]), language=document.language)
        after = parse(new_text)
        if after is None:
            return None
        known = count_checks(self.tree)
        new = [checks for test, checks in count_checks(after).items() if test not in known]
        return edit if any(new) else None


@dataclass(slots=True)
class MemberWriter(CodeWriter):
    """Generates a member of a type (see `CandidateSource`)."""

    name: ClassVar[PromptName] = "new member"
    system: ClassVar[str] = (
        "You write a new method of a type. The present method is an example of its form. Answer with the new method "
        "only, in one code block and nothing else. Do not repeat the present method or the type."
    )

    def _parse_edit(self, answer: str) -> Edit | None:
        """Return the edit that adds an answer, or None if it declares no new member."""
        document, code = self.context.document, find_code_block(to_lf(answer))
        text = _read_members(Document.from_text(document.uri, code or "", language=document.language))
        known = {one.name for one in find_members(self.tree, self.span)} if self.tree else set[str]()
        new = {one.name for one in find_outermost(Document.from_text(document.uri, text, language=document.language))}
        return None if not new or new & known else self._add_below(text)


class WriteCode(Instruct):
    """The task that lets the model write new code below a span."""

    writer: ClassVar[type[CodeWriter]] = CodeWriter

    async def create_source(self, checked: CandidateChecks | None = None) -> CodeWriter:
        rewriter = await super().create_source()
        return self.writer(rewriter.context, rewriter.tree, rewriter.span, rewriter.size, rewriter.instruction)


class WriteTestCode(WriteCode):
    """The task that lets the model write tests below a test of the same file."""

    writer = NewTestWriter


class WriteMember(WriteCode):
    """The task that lets the model write a new member of a type below its last one, which is the span."""

    writer = MemberWriter


def find_members(tree: SyntaxTree, span: Span) -> list[Declaration]:
    """Return the functions of the innermost type around or at a span, in their order."""
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    types = [
        number
        for number, one in enumerate(declarations)
        if one.kind in TYPE_KINDS
        and one.start <= span.start < one.end
        and (span.end <= one.end or one.start >= span.start)
    ]
    own = max(types, key=lambda number: declarations[number].start, default=None)
    return [one for one in declarations if one.parent == own and one.kind in ("function", "method")] if types else []


def _read_members(answer: Document) -> str:
    """Return the code of an answer without the type that some models write around a member."""
    text, outer = decode(answer.data), find_outermost(answer)
    if len(outer) != 1 or outer[0].kind not in TYPE_KINDS or (tree := parse(answer)) is None:
        return text
    members = find_members(tree, Span(outer[0].start, outer[0].start))
    if not members:
        return text
    start = answer.line_starts[answer.line_of(members[0].start)]
    return dedent(decode(answer.data[start : members[-1].end]))
