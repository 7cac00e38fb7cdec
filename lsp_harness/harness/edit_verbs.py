"""What can be done to code on a word of the user's: edit it by an instruction, describe it, explain it, test it.

Each is a turn of the session, and what changes a text ends as a proposal with a verdict, like a fix.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.files.folders import is_same_file
from lsp_harness.harness import diagnosis
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.proposals import send
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.session.results import FixOffer, Proposal, Report
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.text.uri import local_path
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.coding.turn_context import TurnContext
    from lsp_harness.syntax.scope import Scope
    from lsp_harness.verify.digest.digest_result import Digest

Verb = Literal["instruct", "docstring", "tests", "explain"]


@dataclass(frozen=True, slots=True)
class Written:
    """A proposal about a document that may be another one than was asked about, and may not exist yet."""

    proposal: Proposal
    document: Document
    new: bool = False


def offered(harness: Harness, snapshot: Snapshot, span: Span) -> list[Verb]:
    """What makes sense here, at once; all but the first also without a selection, on a function's first line."""
    from lsp_harness.coding.docstring import find_docstring_place
    from lsp_harness.coding.write_tests import find_target_function
    from lsp_harness.syntax import scope

    document = snapshot.document
    if harness.refusal(snapshot):
        return []
    selected = bool(document.data[slice(*span)].strip())
    verbs: list[Verb] = ["instruct"] if selected else []
    tree = harness.tree(snapshot)
    function = scope.enclosing_function(tree, span.start) if tree else None
    on_header = bool(function and document.line_of(span.start) in _header(document, function))
    if tree and on_header:
        if find_docstring_place(tree, span.start):
            verbs.append("docstring")
        if snapshot.root and find_target_function(tree, span.start, snapshot.path):
            verbs.append("tests")
    return [*verbs, "explain"] if selected or on_header else verbs


async def instruct(
    harness: Harness, snapshot: Snapshot, span: Span, instruction: str, report: Report, failing: str = ""
) -> Written:
    """`failing` is what a tool has printed of this text. Raises NoAnswer, StaleDocument, EngineError, UsageError."""
    from lsp_harness.coding.instruct import Instruct

    if not instruction.strip():
        raise UsageError("describe in a few words what to change")
    await harness.parsed(snapshot)
    harness.check(snapshot)
    output = await diagnosis.printed(snapshot, failing) if failing else None
    job = harness.job(snapshot, report, output)
    return await _written(harness, job, Instruct(job, span, instruction.strip()).run())


async def mend(harness: Harness, snapshot: Snapshot, span: Span, failing: str, report: Report) -> Written:
    """What a tool has printed of the line that a span begins on, or the test of the function there that fails. Raises NoAnswer,
    StaleDocument, EngineError, UsageError."""
    await harness.parsed(snapshot)
    harness.check(snapshot)
    output = await diagnosis.printed(snapshot, failing)
    line = snapshot.document.line_of(span.start) + 1
    finding = diagnosis.of_output(snapshot, harness.tree(snapshot), output, line)
    if finding is None:
        raise UsageError(f"{output.summary}; it reports nothing in line {line} of {snapshot.path}")
    offers = await harness.offers(snapshot, [finding])
    return Written(await fixed(harness, snapshot, offers, report, output), snapshot.document)


async def fixed(
    harness: Harness, snapshot: Snapshot, offers: Sequence[FixOffer], report: Report, output: "Digest | None" = None
) -> Proposal:
    """The linter's own fix where there is one that passes, else the model's. Raises NoAnswer, StaleDocument, EngineError, UsageError."""
    for offer in offers:
        try:
            return await harness.fix(snapshot, offer, report, output)
        except NoAnswer:
            if offer is offers[-1]:
                raise
    raise NoAnswer("there is no fix for this diagnostic")


async def docstring(harness: Harness, snapshot: Snapshot, span: Span, report: Report) -> Written:
    """Raises NoAnswer, StaleDocument, EngineError, UsageError."""
    from lsp_harness.coding.docstring import WriteDocstring

    await harness.parsed(snapshot)
    harness.check(snapshot)
    job = harness.job(snapshot, report)
    return await _written(harness, job, WriteDocstring(job, span).run())


async def tests(harness: Harness, snapshot: Snapshot, span: Span, report: Report) -> Written:
    """Tests into the module's test file, or a new one. Raises NoAnswer, StaleDocument, EngineError, UsageError."""
    from lsp_harness.coding.write_tests import WriteTests, find_target_function

    await harness.parsed(snapshot)
    harness.check(snapshot)
    tree = harness.tree(snapshot)
    about = find_target_function(tree, span.start, snapshot.path) if tree else None
    if about is None or snapshot.root is None or snapshot.file is None:
        raise NoAnswer("There is no function here that a test could import; so far, tests are written for Python only")
    file = _test_file(snapshot.root, snapshot.file)
    target, new = _target(harness, file)
    place = harness.workspace.snapshot(target)
    harness.check(place)
    job = harness.job(place, report)
    return await _written(harness, job, WriteTests(job, about).run(), new=new)


async def explain(harness: Harness, snapshot: Snapshot, span: Span, report: Report) -> str:
    """Markdown. Raises NoAnswer, EngineError, UsageError."""
    from lsp_harness.coding.explain import Explain

    harness.check(snapshot)
    try:
        return await Explain(harness.job(snapshot, report), span).run()
    finally:
        harness.services.embed()


async def _written(harness: Harness, job: "TurnContext", work: Awaitable[Proposal], *, new: bool = False) -> Written:
    """Given out. Raises what the work does, and StaleDocument."""
    try:
        return Written(send(harness.documents.find(job.document.uri), job, await work), job.document, new)
    finally:
        # the engine is there, however good its answers were
        harness.services.embed()


def _header(document: Document, function: "Scope") -> range:
    """The lines of a function before its body, the one with an opening brace included."""
    first, body = document.line_of(function.start), document.line_of(function.body_start)
    braced = document.data[function.body_start : function.body_start + 1] == b"{"
    return range(first, max(first, body if braced else body - 1) + 1)


def _test_file(root: Path, file: Path) -> Path:
    """An existing test file of the module, else where one would be looked for."""
    name = f"test_{file.stem.strip('_')}.py"
    folders = [root / "tests" / file.relative_to(root).parent.name, root / "tests", file.parent]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    return (root / "tests" if (root / "tests").is_dir() else file.parent) / name


def _target(harness: Harness, file: Path) -> tuple[Document, bool]:
    """The test file's text, the editor's where it is open, and whether there is no such file yet."""
    uri = file.as_uri()
    for opened in harness.documents:
        if opened.uri == uri or ((open_file := local_path(opened.uri)) and is_same_file(open_file, file)):
            return opened.text, False
    new = not file.exists()
    language = find_language_of_file(uri)
    return Document.from_text(uri, b"" if new else read_file(file), language=language.id if language else ""), new
