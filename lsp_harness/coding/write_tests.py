"""Writes tests of a function, at the end of the test file of its module.

The harness writes the imports and the names, and the model only continues. The tests are parsed and linted; only the
user runs them. This works only for Python, because each language has its own form and place of tests.
"""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePosixPath
from typing import ClassVar, NamedTuple

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.partial_answer import find_outermost
from lsp_harness.coding.candidates.prompt_waves import CandidateSource
from lsp_harness.coding.candidates.sampling import (
    Candidate,
    CandidatePlan,
    CandidateRequest,
    generate_candidates,
)
from lsp_harness.coding.edit_task import EditTask
from lsp_harness.coding.repair.import_forms import NewImport, make_import_edit
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_prompt import count_hole_marks, fit_infill
from lsp_harness.context import window
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.prompt_budget import FRAME_TOKENS, PromptBudget
from lsp_harness.context.sources.index_sources import RelatedCodeSource
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secrets import find_secret_lines, find_secrets
from lsp_harness.inference.prompt_ceilings import PromptLimit
from lsp_harness.inference.request import Infill, InfillContext
from lsp_harness.syntax import scope
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.syntax_errors import find_faults
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import Span, decode, encode

ANSWER_TOKENS = 240
TEST_HEAD = re.compile(r"^((?:async )?def |class )(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TargetFunction:
    """The function that tests are written for, or the class of a method.

    Attributes:
        tree: The syntax tree of its file.
        span: The function, or the whole class of a method.
        path: The path of its file in the workspace.
        source: The code of the span.
        module: The name of its module.
        name: The name that a test imports: the function or its class.
        test_name: The name of the tests behind `test_`.
        function: The name of the function.
    """

    tree: SyntaxTree
    span: Span
    path: str
    source: str
    module: str
    name: str
    test_name: str
    function: str


def find_target_function(tree: SyntaxTree, offset: int, path: str) -> TargetFunction | None:
    """Return the Python function or class around an offset, or None if a test could not call it."""
    function = scope.function_at(tree, offset)
    if not tree.language.declarations.test_framework:
        return None
    if function is None:
        return _find_target_class(tree, offset, path)
    if not function.name:
        return None
    class_ = scope.enclosing_class(tree, function.start)
    if _find_column(tree, function.start) != (_find_column(tree, class_.body_start) if class_ else 0):
        # a test cannot reach a function inside of another one
        return None
    if class_ and _find_column(tree, class_.start):
        return None
    if not PurePosixPath(path).name:
        # a client may name the workspace folder itself as a document
        return None
    name = class_.name if class_ else function.name
    span = scope.function_text_span(tree, offset) if not class_ else (class_.start, class_.end)
    function_name = function.name.strip("_")
    test_name = f"{_to_snake_case(class_.name)}_{function_name}" if class_ else function_name
    if span is None:
        return None
    source = decode(tree.data[slice(*span)])
    return TargetFunction(tree, Span(*span), path, source, _name_module(path), name, test_name, function.name)


def _find_target_class(tree: SyntaxTree, offset: int, path: str) -> TargetFunction | None:
    """Return the outer class around an offset as what a test uses, or None if there is none."""
    class_ = scope.enclosing_class(tree, offset)
    if class_ is None or _find_column(tree, class_.start) or not PurePosixPath(path).name:
        return None
    span, name = Span(class_.start, class_.end), class_.name
    source = decode(tree.data[span.start : span.end])
    return TargetFunction(tree, span, path, source, _name_module(path), name, _to_snake_case(name), name)


def _name_module(path: str) -> str:
    parts = [part for part in PurePosixPath(path).with_suffix("").parts if part != "src"]
    return ".".join(parts).removesuffix(".__init__")


def _find_column(tree: SyntaxTree, offset: int) -> int:
    return offset - tree.document.line_starts[tree.document.line_of(offset)]


def _to_snake_case(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and index else c.lower() for index, c in enumerate(name))


def _keep_whole_lines(before: str, text: str, uri: str, language: str) -> str:
    """Return the first lines of `text` that parse behind `before`. A text that was cut off ends within a statement."""
    lines = text.rstrip().split("\n")
    while lines:
        whole = "\n".join(lines).rstrip()
        tree = parse(Document.from_text(uri, f"{before}{whole}\n", language=language))
        if tree and not find_faults(tree):
            return whole
        lines.pop()
    return ""


@dataclass(frozen=True, slots=True)
class WriteTests(EditTask):
    """The task that lets the model write tests of a function into the document of the turn, which is the test file.

    The test file is empty if it does not exist yet.
    """

    finishes_edits: ClassVar[bool] = True

    context: TurnContext
    target: TargetFunction

    def choose(self, passed: Sequence[CheckedCandidate]) -> CheckedCandidate:
        """Return the candidate with most assertions: a test without assertions always passes."""
        return max(passed, key=lambda result: (result.change.after.data.count(b"assert"), -result.candidate.number))

    def is_decided(self, passed: Sequence[CheckedCandidate]) -> bool:
        """Return False, because a later candidate may have more assertions."""
        return False

    async def create_source(self, checked: CandidateChecks | None = None) -> CandidateSource:
        context, source = self.context, self.target.source
        if find_secrets(encode(source)) or find_secret_lines(context.document):
            raise NoAnswer("this code contains what looks like a secret, so it is not sent to the model")
        [size] = await context.engine.count([source])
        if size > (budget := context.config.context.code_budget):
            raise NoAnswer(
                f"{self.target.name} has {size} tokens, and context.code_budget allows {budget}; raise that setting"
            )
        test_file = _begin_test(context.document, self.target)
        props, share = await context.engine.props(), context.config.completion.prefix_tokens
        # the test file gets the rest of the model's context, and related code gets what is then left
        room = share + budget
        if props.n_ctx:
            room = props.n_ctx - count_hole_marks(props) - FRAME_TOKENS - size - ANSWER_TOKENS
        prefix, prefix_tokens = await self._read_prefix(test_file.text, max(0, min(share, room)))
        fragments = await self._find_related_code(min(budget - size, room - prefix_tokens))
        costs = {"related": sum(fragment.tokens for fragment in fragments), "code": size, "prefix": prefix_tokens}
        sections = {name: tokens for name, tokens in costs.items() if tokens}
        return _TestWriter(context, self.target, test_file, fragments, prefix, sections)

    async def _read_prefix(self, text: str, budget: int) -> tuple[str, int]:
        """Return the last whole lines of the test file, as a completion at its end has them, and their tokens."""
        document = Document.from_text(self.context.document.uri, text, language=self.target.tree.language.id)
        _, prefix, tokens = await window.read_prefix(document, len(document.data), budget, self.context.engine.count)
        if not prefix.endswith(line := text.rpartition("\n")[2]):
            raise NoAnswer(
                f"the line {line} does not fit into {budget} tokens; raise completion.prefix_tokens or "
                "model.context_length"
            )
        return prefix, tokens

    async def _find_related_code(self, budget: int) -> tuple[Fragment, ...]:
        """Return code that the function uses, and code that uses and tests it."""
        context, target, settings = self.context, self.target, self.context.config.context
        code = CodeSelection(target.tree.document, target.tree, target.span, target.path)
        inputs = InstructionInputs(code, PromptBudget(settings), context.engine.count, context.workspace)
        share = min(budget, settings.related_budget)
        return tuple(await RelatedCodeSource(inputs).find_fragments(share, ())) if share > 0 else ()


class _TestFile(NamedTuple):
    """The test file up to the name of the new test.

    Attributes:
        text: The text, with LF as line end.
        edit_start: The offset of the first changed byte of the document.
        changed_from: The same place in the text, in characters.
    """

    text: str
    edit_start: int
    changed_from: int


def _begin_test(document: Document, target: TargetFunction) -> _TestFile:
    lead, data = f"def test_{target.test_name}", document.data.rstrip(b"\r\n")
    edit, tree = Edit(0, 0, encode(f"from {target.module} import {target.name}{document.newline}")), parse(document)
    if data[document.mark_size :] and tree:
        imports = find_declarations(tree.language, tree.data, tree.root)[1]
        is_imported = any(item.name == target.name and not item.alias for item in imports)
        added = None if is_imported else make_import_edit(tree, NewImport(target.module, target.name))
        edit = added or Edit(len(data), len(data), b"")
    text = to_lf(decode(apply(document.data, [edit]))).rstrip("\n")
    above = to_lf(decode(document.data[: edit.start]))
    return _TestFile(f"{text}\n\n\n{lead}", edit.start, len(above))


def _rename_repeated(document: Document, text: str) -> str:
    """Return new tests with other names for those that the test file has already: the last one would hide the first."""
    taken = {item.name for item in find_outermost(document)}

    def rename(match: re.Match[str]) -> str:
        name = next(name for n in count(1) if (name := f"{match[2]}_{n}" if n > 1 else match[2]) not in taken)
        taken.add(name)
        return f"{match[1]}{name}"

    return TEST_HEAD.sub(rename, text)


@dataclass(slots=True)
class _TestWriter:
    """Generates tests: the model continues from `def test_…` (see `CandidateSource`)."""

    context: TurnContext
    target: TargetFunction
    test_file: _TestFile
    fragments: tuple[Fragment, ...]
    prefix: str
    sections: dict[str, int]
    refusal: str = field(default="", init=False)

    async def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        context, target = self.context, self.target
        fragments = [(fragment.origin, fragment.text) for fragment in self.fragments]
        around = InfillContext(self.prefix, "", (*fragments, (target.module.replace(".", "/") + ".py", target.source)))
        sizes = (self.sections, PromptLimit.of("tests", context.config), ANSWER_TOKENS)
        candidates = await fit_infill(context.engine, around, *sizes, context.turn, plan.numbers)
        stop = ("\nif __name__", "\nclass ", "\nprint(", "\n#")
        sampling = plan.create_sampling(candidates, n_predict=ANSWER_TOKENS, stop=stop)
        infill = Infill(around, sampling=sampling, priority="normal", owner=context.owner)
        request = CandidateRequest(infill, self._parse_edit)
        async with aclosing(generate_candidates(context.engine, plan, request, on_evaluated)) as generated:
            async for candidate in generated:
                yield candidate

    def _parse_edit(self, answer: str) -> Edit | None:
        """Return the edit that adds an answer to the test file, or None if it does not test the function."""
        document, (before, start, changed_from) = self.context.document, self.test_file
        lines = _keep_whole_lines(before, to_lf(answer), document.uri, self.target.tree.language.id)
        if "assert" not in lines or not self._is_used(lines):
            return None
        lead = before.rpartition("\n")[2]
        text = f"{before.removesuffix(lead)}{_rename_repeated(document, f'{lead}{lines}')}\n"
        return Edit(start, len(document.data), encode(text[changed_from:].replace("\n", document.newline)))

    def _is_used(self, lines: str) -> bool:
        """Return whether lines use the target: a function that tests call is no member of something else."""
        target = self.target
        before = r"(?<![\w.])" if target.name == target.function else r"\b"
        return (
            re.search(rf"(?<![\w.]){re.escape(target.name)}\b|{before}{re.escape(target.function)}\b", lines)
            is not None
        )
