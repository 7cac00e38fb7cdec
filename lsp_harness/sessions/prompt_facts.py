"""Reads prompts without a model: exact questions with their answers, and follow-ups on what the session did last."""

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lsp_harness.coding.location.task_mentions import CODE, read_task
from lsp_harness.coding.plan.renames import parse_rename
from lsp_harness.coding.questions.answer_parts import means_tests, read_answer_part, select_part
from lsp_harness.coding.questions.exact_answers import answer_exactly, find_declared_words, recognize_question
from lsp_harness.coding.questions.follow_ups import (
    MAX_CHARS,
    RENAME,
    FollowUp,
    continue_at_last_place,
    describe_subject,
    read_follow_up,
    read_second_request,
)
from lsp_harness.coding.questions.odd_prompts import (
    CANNOT,
    GREETING,
    IMPOSSIBLE_ORDER,
    RUNS_NO_COMMANDS,
    UNKNOWN_WORD,
    PastedOutput,
    is_command,
    is_pasted_code,
    read_contradiction,
    read_foreign_wish,
    read_pasted_output,
    read_pasted_text,
    read_single_word,
)
from lsp_harness.coding.questions.other_languages import read_other_language
from lsp_harness.coding.questions.project_facts import ExactAnswer, ProjectFacts, find_lines
from lsp_harness.coding.questions.question import Question, QuestionSubject
from lsp_harness.errors import IndexIncomplete, UsageError
from lsp_harness.events.plan_events import PlaceChosen
from lsp_harness.files.secrets import redact
from lsp_harness.harness.edits import diagnosis
from lsp_harness.harness.services import Services
from lsp_harness.harness.task_locator import TaskLocator
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.kernel.projections.code_progress import LastWork
from lsp_harness.languages.language_table import UNKNOWN_LANGUAGE, find_language, find_language_of_file
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


IN_LANGUAGE = re.compile(r"\bin ([A-Z][\w+#]*)[\s.!?]*\Z")
PACKAGES = re.compile(r"/(?:site-packages|dist-packages|node_modules|usr/lib|\.cargo|rustc|lib/python[\d.]+)/")
"""Matches a path of code that is not of this folder."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """An exact question with its answer.

    Attributes:
        family: What was asked (see `Question`), or "nothing" if the prompt asks and orders nothing.
        text: The answer.
        place: The place that it is about, for follow-ups, or None if it is about none.
        meant: The question before, of whose answer this is a part, or an empty text.
    """

    family: str
    text: str
    place: PlaceChosen | None
    meant: str = ""


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
    if text := read_pasted_text(task):
        return AnsweredQuestion("nothing", text, None)
    declared = await find_declared_words(facts, task)
    if is_pasted_code(task):
        return await _answer_code(facts, task, declared)
    follow_up = read_follow_up(task, last, declared)
    if follow_up and follow_up.kind in AT_OLD_PLACE:
        return follow_up
    if part := await _answer_part(facts, task, last):
        return part
    last = await _find_new_subject(facts, last)
    if follow_up := read_follow_up(await _complete_name(facts, task, last, declared), last, declared):
        return await _keep_docstring(facts, follow_up, last)
    if answered := await _answer(facts, read_single_word(task, declared)):
        return answered
    subject = QuestionSubject(last.symbol, last.path) if last.path else None
    if answered := await _answer(facts, await recognize_question(facts, task, declared, subject)):
        return answered
    if english := read_other_language(task, declared):
        return read_follow_up(english, last, declared) or FollowUp("go_on", english)
    if second := read_second_request(task, declared):
        return second
    if IMPOSSIBLE_ORDER.match(task):
        return AnsweredQuestion("nothing", f"{CANNOT}{ABILITIES}", None)
    if text := read_contradiction(task) or await _refuse_language(facts, task):
        return AnsweredQuestion("nothing", text, None)
    if follow_up := continue_at_last_place(task, last, declared):
        return follow_up
    if is_command(task):
        return AnsweredQuestion("nothing", RUNS_NO_COMMANDS.format(command=" ".join(task.split())), None)
    if len(task.split()) == 1 and not task.strip().isdigit():
        return await _answer_word(facts, task.strip())
    names_code = any(one.spelling >= CODE or one.last in declared for one in read_task(task).names)
    wish = "" if names_code or read_task(task).sure_files else read_foreign_wish(task)
    return AnsweredQuestion("nothing", f"{wish}{ABILITIES}", None) if wish else None


AT_OLD_PLACE = frozenset({"undo", "undo_all", "correction", "retry"})
"""The kinds of follow-ups that go back to the code before the last edit."""


async def _answer_part(facts: ProjectFacts, task: str, last: LastWork) -> AnsweredQuestion | None:
    """Return the part of the last answer that a prompt wants, or None if it wants something else."""
    part = read_answer_part(task) if last.intent == "question" else None
    if part is None:
        return None
    subject = QuestionSubject(last.symbol, last.path) if last.path else None
    question = await recognize_question(facts, last.task, await find_declared_words(facts, last.task), subject)
    if question and question.family == "callers" and means_tests(part) and not part.is_without:
        # the answer about callers shows only some tests
        question = replace(question, family="tests")
    answered = await _answer(facts, question)
    if answered is None:
        return None
    return replace(answered, text=select_part(answered.text, part, last.path), meant=last.task)


async def _find_new_subject(facts: ProjectFacts, last: LastWork) -> LastWork:
    """Return the last work with the declaration that its edit has made or renamed, if the file has it now."""
    if not (last.is_applied and last.path):
        return last
    rename, match = parse_rename(last.task), RENAME.search(last.task)
    renamed = rename.new if rename else match["new"] if match else ""
    new = {renamed} if renamed else {one.last for one in read_task(last.task).names if one.is_new}
    # the one inside of the type that was named, or beside the old name
    owners = [*([] if renamed else [last.symbol]), last.symbol.rpartition(".")[0], ""]
    symbols = await facts.index.symbols_in(facts.uri, last.path)
    found = [one for one in symbols if one.name in new and one.qualified.rpartition(".")[0] in owners]
    found.sort(key=lambda one: owners.index(one.qualified.rpartition(".")[0]))
    return replace(last, symbol=found[0].qualified) if found else last


async def _complete_name(facts: ProjectFacts, task: str, last: LastWork, declared: Collection[str]) -> str:
    """Return a prompt in which a bare name has its type, if the last place was a member: “the same for Variable”."""
    owner, _, member = last.symbol.rpartition(".")
    if not owner or len(task) > MAX_CHARS:
        return task
    for word in sorted(declared):
        bare = re.compile(rf"(?<![\w.:]){re.escape(word)}(?![\w.:])")
        if not bare.search(task):
            continue
        # a member of the same type, or the same member of another type
        for name in (f"{owner}.{word}", f"{word}.{member}"):
            if await facts.index.symbols_named(facts.uri, SymbolName(name, "")):
                return bare.sub(name, task, count=1)
    return task


async def _keep_docstring(facts: ProjectFacts, follow_up: FollowUp, last: LastWork) -> FollowUp:
    """Return a wish for a docstring, or for a change of the one that the code has already."""
    if not (follow_up.task.startswith("write a docstring for ") and last.is_applied):
        return follow_up
    symbols = await facts.index.symbols_in(facts.uri, last.path)
    symbol = next((one for one in symbols if one.qualified == last.symbol), None)
    if symbol is None or not await facts.index.documentation(facts.uri, symbol):
        return follow_up
    place = describe_subject(last)
    return FollowUp("same", f"{last.task}, also in the docstring of {place}", place)


async def _answer_code(facts: ProjectFacts, task: str, declared: Collection[str]) -> AnsweredQuestion:
    """Say where pasted code is, if this folder declares its first name."""
    names = [word for word in re.findall(r"[^\W\d]\w*", task) if word in declared]
    found = await _answer(facts, Question("where", names[0])) if names else None
    text = f"{found.text}\n" if found else ""
    return AnsweredQuestion("nothing", f"{text}This is code without a request. {ABILITIES}", found and found.place)


async def _refuse_language(facts: ProjectFacts, task: str) -> str:
    """Return what to say if a prompt wants code in a language that the folder does not have, or an empty text."""
    match = IN_LANGUAGE.search(task)
    language = find_language(match[1].lower()) if match else UNKNOWN_LANGUAGE
    if match is None or language is UNKNOWN_LANGUAGE:
        return ""
    found = map(find_language_of_file, await facts.index.code_paths(facts.uri))
    languages = {one.id for one in found if one}
    if language.id in languages:
        return ""
    has = ", ".join(sorted(languages))
    return (
        f"{facts.name} has no code in {match[1]}, and nothing was changed; its code is in: {has}. Leave "
        f"“{match[0].strip()}” out."
    )


async def _answer_word(facts: ProjectFacts, word: str) -> AnsweredQuestion:
    """Say what a single word is: a folder, a module or nothing of this folder."""
    bare = word.strip("`'\"/.?!")
    if GREETING.fullmatch(word):
        return AnsweredQuestion("nothing", ABILITIES, None)
    if re.fullmatch(r"[\w./-]+", bare):
        paths = await facts.index.code_paths(facts.uri)
        folder = next((path for path in paths if f"/{bare}/" in f"/{path}"), "")
        end = f"/{folder}".find(f"/{bare}/") + len(bare)
        question = Question("contents", folder=folder[:end]) if folder else Question("contents", file=bare)
        stems = {path.rpartition("/")[2].partition(".")[0] for path in paths}
        if (folder or bare in stems) and (answered := await _answer(facts, question)):
            return answered
    return AnsweredQuestion("nothing", f"{UNKNOWN_WORD.format(name=redact(word))}{ABILITIES}", None)


def _find_path(root: Path, path: str) -> str:
    """Return the path in a folder of a file, or an empty text if the folder has no such file.

    A path of another machine (`/app/src/store.py`) is a file of the folder if its last parts are one, but not a single
    name: many packages have files of the same names.
    """
    file = root / path
    if file.is_relative_to(root) and file.is_file():
        return file.relative_to(root).as_posix()
    parts = Path(path).parts
    if not Path(path).is_absolute() or PACKAGES.search(path):
        return ""
    for number in range(1, len(parts) - 1):
        if (file := root.joinpath(*parts[number:])).is_file():
            return file.relative_to(root).as_posix()
    return ""


async def find_answer(facts: ProjectFacts, task: str) -> AnsweredQuestion | None:
    """Return the exact question that a prompt asks, with its answer, or None. Raise HarnessError."""
    return await _answer(facts, await recognize_question(facts, task, await find_declared_words(facts, task)))


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
    first, last = find_lines(document, symbol)
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
