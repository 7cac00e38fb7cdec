"""The errors that the compiler of a project finds in a file, for callers that bring no diagnostics."""

from dataclasses import replace

from lsp_harness.syntax.grammars import language_for
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.current_findings import Examination
from lsp_harness.verify.project_tools.new_findings import NothingComparedError
from lsp_harness.verify.project_tools.type_comparison import TypeComparison, choose_checker
from lsp_harness.workspace.snapshot import Snapshot


async def examine_by_compiler(snapshot: Snapshot, types: TypeComparison | None, examined: Examination) -> Examination:
    """Return an examination with the errors that the compiler or type checker of the project finds in a text.

    Args:
        snapshot: The text.
        types: The compilers and type checkers. None if none may run, because the folder is not trusted.
        examined: What our own checks found, which is no error.
    """
    if types is None:
        reason = "this folder is not trusted, so no compiler runs"
        return _refuse(examined, f"{reason}{_advise_pipe(snapshot)}")
    document = snapshot.document
    # everything counts as new in comparison with an empty text
    empty = Document.from_text(document.uri, b"", language=document.language)
    change = Change.from_documents(empty, document, snapshot.tool_path, snapshot.root)
    choice = choose_checker(snapshot.root, snapshot.tool_path, document.language) if snapshot.root else None
    try:
        comparison = await types.compare(ChangeSet.of(change))
    except NothingComparedError as error:
        return _refuse(examined, f"{error}{_advise_pipe(snapshot)}")
    name = choice.name if choice else "types"
    found = [new.finding for new in comparison.new if new.change is change and not new.is_elsewhere]
    named = (replace(one, source=one.source or name) for one in found if one.severity == "error")
    errors = sorted(named, key=lambda one: one.start)
    return replace(examined, findings=tuple(errors), checks=(*examined.checks, name), skip_reasons=comparison.refusals)


def _refuse(examined: Examination, reason: str) -> Examination:
    # our own check of names asked the same checker
    other_reasons = (other for other in examined.skip_reasons if other.removeprefix("types: ") not in reason)
    return replace(examined, skip_reasons=(*other_reasons, reason))


def _advise_pipe(snapshot: Snapshot) -> str:
    language = language_for(snapshot.document.language, snapshot.document.uri)
    if language is None or not language.compiler_command:
        return ""
    return f". Pipe its output: {language.compiler_command} | lsp-harness fix {snapshot.path} --failing -"
