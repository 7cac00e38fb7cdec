"""Reads prompts without a model: exact questions with their answers, and follow-ups on what the session did last."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lsp_harness.coding.questions.exact_answers import answer_exactly, find_declared_words, recognize_question
from lsp_harness.coding.questions.follow_ups import FollowUp, continue_at_last_place, read_follow_up
from lsp_harness.coding.questions.odd_prompts import (
    GREETING,
    RUNS_NO_COMMANDS,
    UNKNOWN_WORD,
    PastedOutput,
    is_command,
    read_pasted_output,
    read_single_word,
)
from lsp_harness.coding.questions.project_facts import ExactAnswer, ProjectFacts
from lsp_harness.coding.questions.question import Question, QuestionSubject
from lsp_harness.errors import IndexIncomplete, UsageError
from lsp_harness.events.plan_events import PlaceChosen
from lsp_harness.harness.edits import diagnosis
from lsp_harness.harness.services import Services
from lsp_harness.harness.task_locator import TaskLocator
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.kernel.projections.code_progress import LastWork
from lsp_harness.runtime.isolation.git import run_git
from lsp_harness.sessions.package_facts import describe_package_name
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.current_findings import Examination
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tests.suite_search import SuiteSkippedError

ABILITIES = (
    "I can change code (“add input validation to parse_config”), fix an error or a failing test (“fix the crash in "
    "load”), write code, tests, a docstring or a new file (“write tests for load”), explain code (“what does load "
    "do?”) and answer questions (“who calls load?”). Which code is it about, and what shall I do with it?"
)


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """An exact question with its answer.

    Attributes:
        family: What was asked (see `Question`), or "nothing" if the prompt asks and orders nothing.
        text: The answer.
        place: The place that it is about, for follow-ups, or None if it is about none.
    """

    family: str
    text: str
    place: PlaceChosen | None


def open_facts(services: Services, locator: TaskLocator) -> ProjectFacts | None:
    """Return the facts of the folder, or None if there is no folder.

    A greeting needs none, and LOCATE says why there is none.
    """
    try:
        root, read_text = locator.open_folder()
    except UsageError:
        return None
    findings = partial(_list_findings, services, read_text)
    tests = partial(_run_tests, services, root, read_text)
    index, git = services.index.query, partial(read_git, root)
    packages = partial(describe_package_name, services.installed, index, root, read_text)
    return ProjectFacts(index, root.as_uri(), root.name, read_text, git, findings, tests, packages)


async def read_prompt(
    facts: ProjectFacts, task: str, last: LastWork
) -> FollowUp | AnsweredQuestion | PastedOutput | None:
    """Return the follow-up that a prompt is, the output of a tool in it, its exact question with the answer, or None.

    Args:
        facts: The facts of the folder.
        task: The prompt of the user.
        last: What the session did last.

    Raises:
        HarnessError: The index or git cannot be read.
    """
    root = local_path(facts.uri) or Path()
    # the output may be long
    pasted = await asyncio.to_thread(read_pasted_output, task, str(root), partial(_find_path, root))
    if pasted:
        return pasted
    declared = await find_declared_words(facts, task)
    if follow_up := read_follow_up(task, last, declared):
        return follow_up
    if answered := await _answer(facts, read_single_word(task, declared)):
        return answered
    subject = QuestionSubject(last.symbol, last.path) if last.path else None
    if answered := await _answer(facts, recognize_question(task, declared, subject)):
        return answered
    if follow_up := continue_at_last_place(task, last, declared):
        return follow_up
    if is_command(task):
        return AnsweredQuestion("nothing", RUNS_NO_COMMANDS.format(command=" ".join(task.split())), None)
    if len(task.split()) == 1:
        unknown = "" if GREETING.fullmatch(task.strip()) else UNKNOWN_WORD.format(name=task.strip())
        return AnsweredQuestion("nothing", f"{unknown}{ABILITIES}", None)
    return None


def _find_path(root: Path, path: str) -> str:
    """Return the path in a folder of a file, or an empty text if the folder has no such file."""
    file = root / path
    return file.relative_to(root).as_posix() if file.is_relative_to(root) and file.is_file() else ""


async def find_answer(facts: ProjectFacts, task: str) -> AnsweredQuestion | None:
    """Return the exact question that a prompt asks, with its answer, or None. Raise HarnessError."""
    return await _answer(facts, recognize_question(task, await find_declared_words(facts, task)))


async def read_git(root: Path, *arguments: str) -> str:
    """Run git in a folder and return what it prints. Raise GitFailed if it fails."""
    return (await run_git(root, *arguments)).decode("utf-8", "replace")


async def _answer(facts: ProjectFacts, question: Question | None) -> AnsweredQuestion | None:
    answer = await answer_exactly(facts, question) if question else None
    if question is None or answer is None:
        return None
    return AnsweredQuestion(question.family, answer.text, _make_place(facts, answer))


def _make_place(facts: ProjectFacts, answer: ExactAnswer) -> PlaceChosen | None:
    symbol, path = answer.symbol, answer.symbol.path if answer.symbol else answer.path
    document = facts.read_text(path) if path else None
    if document is None:
        return None
    if symbol is None:
        return PlaceChosen(path, "", "", 0, 0, "index", document.hash)
    first, last = document.line_of(symbol.start) + 1, document.line_of(max(symbol.start, symbol.end - 1)) + 1
    return PlaceChosen(path, symbol.qualified, symbol.kind, first, last, "index", document.hash)


async def _run_tests(
    services: Services, root: Path, read_text: Callable[[str], Document | None], path: str
) -> list[str]:
    """Run the tests that depend on a file, or all tests, and return their results in lines."""
    suites = services.verifier.tools.suites
    if suites is None:
        return ["This workspace is not trusted, so no tests run; trust it first."]
    paths = [path] if path else await _choose_test_files(services, root)
    documents = [(one, document) for one in paths if (document := read_text(one))]
    if not documents:
        return [f"The index knows no test file in {root.name}."]
    files = ChangeSet.of(*(Change.from_edits(document, (), root / one, root) for one, document in documents))
    try:
        return await suites.run_present(files, is_whole=not path)
    except (SuiteSkippedError, IndexIncomplete) as error:
        return [f"No tests ran: {error}"]


async def _choose_test_files(services: Services, root: Path) -> list[str]:
    """Return a test file of each language, by which the programs that run the tests are found."""
    paths = [one for one in await services.index.query.code_paths(root.as_uri()) if TEST_PATH.search(one)]
    return list({Path(one).suffix: one for one in reversed(paths)}.values())


async def _list_findings(
    services: Services, read_text: Callable[[str], Document | None], path: str
) -> tuple[list[str], str]:
    """Return a line for each finding of our own checks in a file, and which checks looked for them."""
    document = read_text(path)
    if document is None:
        return [], "the file cannot be read"
    examined = await _examine(services, document)
    lines = [
        f"{path}:{document.line_of(finding.start) + 1}  {finding.code} {finding.message}".rstrip()
        for finding in examined.findings
    ]
    return lines, examined.describe_checks()


async def find_findings(services: Services, document: Document) -> Sequence[Finding]:
    """Return the findings of our own checks in a text. Raise HarnessError if they cannot run."""
    return (await _examine(services, document)).findings


async def _examine(services: Services, document: Document) -> Examination:
    snapshot, tree = services.workspace.snapshot(document), services.documents.tree(document)
    return await diagnosis.diagnose(snapshot, tree, services.verifier.tools)
