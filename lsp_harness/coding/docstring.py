"""Writes a docstring for a function. The hole lies between the two marks of the docstring, so no code can change."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import ClassVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.prompt_waves import CandidateSource
from lsp_harness.coding.candidates.sampling import (
    Candidate,
    CandidatePlan,
    CandidateRequest,
    build_hole,
    generate_candidates,
)
from lsp_harness.coding.edit_task import EditTask
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.inference.request import Infill
from lsp_harness.languages.traits import CommentStyle
from lsp_harness.process.offload import offload
from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

ANSWER_TOKENS = 120
MAX_LINE_CHARS = 100
"""Most characters of a line. A model that writes a longer line does not describe the function."""
BLOCK_COMMENT = "/*"


@dataclass(frozen=True, slots=True)
class DocstringPlace:
    """The line at which a new docstring is inserted, with its indentation.

    Attributes:
        offset: The start of a line, in bytes.
        indent: The indentation of its lines.
        marks: The marks of the language.
    """

    offset: int
    indent: str
    marks: CommentStyle


def find_docstring_place(tree: SyntaxTree, offset: int) -> DocstringPlace | None:
    """Return the place of the docstring of the function around an offset.

    Return None if there is no function, if it has a docstring, or if the docstrings of the language are not known.
    """
    marks = tree.language.declarations.documentation
    function = scope.function_at(tree, offset)
    if marks is None or function is None:
        return None
    document = tree.document
    if marks.is_inside:
        line = document.line_of(function.body_start)
        line_start = document.line_starts[line]
        indent = decode(document.data[line_start : function.body_start])
        # a body on the line of its `def` has no place for a docstring
        body = document.data[function.body_start : function.body_start + 8].lstrip(b"rRbBuU")
        if indent.strip() or line == document.line_of(function.start) or body.startswith((b'"', b"'")):
            return None
        return DocstringPlace(line_start, indent, marks)
    span = scope.function_text_span(tree, offset)
    comments = tuple(filter(None, (tree.language.comment, BLOCK_COMMENT)))
    if span is None or decode(document.data[span.start : function.start]).lstrip().startswith(comments):
        return None
    line_start = document.line_starts[document.line_of(span.start)]
    text = decode(document.data[line_start : document.line_span(document.line_of(line_start))[1]])
    return DocstringPlace(line_start, text[: len(text) - len(text.lstrip())], marks)


@dataclass(frozen=True, slots=True)
class WriteDocstring(EditTask):
    """The task that lets the model write a docstring for the function at a span."""

    finishes_edits: ClassVar[bool] = True

    context: TurnContext
    span: Span

    async def create_source(self, checked: CandidateChecks | None = None) -> CandidateSource:
        document = self.context.document
        tree = await offload(len(document.data), lambda: parse(document))
        code = document.data[slice(*self.span)]
        start = self.span.start + len(code) - len(code.lstrip())
        place = find_docstring_place(tree, start) if tree else None
        if place is None:
            raise NoAnswer("there is no function here without a docstring")
        if document.line_of(place.offset) in find_secret_lines(document):
            raise NoAnswer("this line contains what looks like a secret, so it is not sent to the model")
        return _DocstringFiller(self.context, place)


@dataclass(slots=True)
class _DocstringFiller:
    """Generates the text between the marks (see `CandidateSource`)."""

    context: TurnContext
    place: DocstringPlace
    refusal: str = field(default="", init=False)

    async def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        context, offset, marks = self.context, self.place.offset, self.place.marks
        newline = context.document.newline
        frame = (self._indent(marks.before), self._indent(marks.after, indents_first=False) + newline)
        around, candidates = await build_hole(context, "docstring", Span(offset, offset), frame, plan, ANSWER_TOKENS)
        # a comment without an end mark can only have one line
        stop = (marks.after.strip(),) if marks.after else ("\n",)
        sampling = plan.create_sampling(candidates, n_predict=ANSWER_TOKENS, stop=stop)
        infill = Infill(around, sampling=sampling, priority="normal", owner=context.owner)
        request = CandidateRequest(infill, self._parse_edit)
        async with aclosing(generate_candidates(context.engine, plan, request, on_evaluated)) as generated:
            async for candidate in generated:
                yield candidate

    def _parse_edit(self, answer: str) -> Edit | None:
        """Return the edit that inserts an answer as a docstring, or None if it is empty or too wide."""
        offset, indent, marks = self.place.offset, self.place.indent, self.place.marks
        # the model may write the indentation and the mark of each line
        lines = [line.removeprefix(indent).rstrip() for line in to_lf(answer).strip().split("\n")]
        if marks.between:
            lines = [line.strip().removeprefix(marks.between.strip()).strip() for line in lines]
        if not "".join(lines) or any(len(indent + line) > MAX_LINE_CHARS for line in lines):
            return None
        body = f"\n{marks.between}".join(lines)
        close = f"\n{marks.after}" if marks.is_inside and len(lines) > 1 else marks.after
        text = "\n".join((indent + line).rstrip() for line in f"{marks.before}{body}{close}".split("\n"))
        return Edit(offset, offset, encode((text + "\n").replace("\n", self.context.document.newline)))

    def _indent(self, text: str, *, indents_first: bool = True) -> str:
        """Return a text with the indentation before each line. The first line may continue the line of the hole."""
        first, *others = text.split("\n")
        indent = self.place.indent
        lines = [indent + first if indents_first else first, *(indent + line for line in others)]
        return self.context.document.newline.join(lines)
