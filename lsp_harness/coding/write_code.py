"""Writes new declarations below existing code. What stands there already is not changed."""

from dataclasses import dataclass
from typing import ClassVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.partial_answer import find_outermost
from lsp_harness.coding.instruct import Instruct, Rewriter
from lsp_harness.inference.grammar import find_code_block
from lsp_harness.inference.prompt_ceilings import PromptName
from lsp_harness.syntax.scope import enclosing_class, enclosing_function
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode


class WriteCode(Instruct):
    """The task that lets the model write new code below a span."""

    async def create_source(self, checked: CandidateChecks | None = None) -> "CodeWriter":
        rewriter = await super().create_source()
        return CodeWriter(rewriter.context, rewriter.tree, rewriter.span, rewriter.size, rewriter.instruction)


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
        return document.line_span(document.line_of(max(self.span.start, end - 1)))[1]
