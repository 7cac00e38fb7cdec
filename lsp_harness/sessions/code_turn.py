"""The states of one prompt: UNDERSTAND, LOCATE, PLAN, GENERATE, VERIFY, or ANSWER.

The table `turn_states.NEXT_STATES` says what may follow. The model only chooses one of a few words or fills a gap, and
what is known already, because another process was killed at this prompt, is not asked again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from lsp_harness.coding.candidates.finished_changes import finish_changes
from lsp_harness.coding.docstring import WriteDocstring
from lsp_harness.coding.explain import Explain
from lsp_harness.coding.fix import Fix
from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.ladder.repair_tests import NothingFails, RepairTests, find_failures, limit_to_named
from lsp_harness.coding.location.task_location import LocatedTask, LocationRequest, TaskPlace
from lsp_harness.coding.location.task_mentions import read_task
from lsp_harness.coding.module_tests import find_test_file, find_test_place, open_or_begin
from lsp_harness.coding.new_file import CreateFile, find_new_file, may_create_file
from lsp_harness.coding.plan.planned_edits import (
    REPEATED,
    REPEATED_SUMMARY,
    EditWork,
    PlannedEdits,
)
from lsp_harness.coding.plan.renames import choose_renamed_function, describe_place, parse_rename
from lsp_harness.coding.plan.turn_texts import TurnTexts, describe_edits
from lsp_harness.coding.plan.understanding import (
    ASKS_FOR_TESTS,
    DOCSTRING_WORDS,
    understand_by_facts,
    understand_prompt,
)
from lsp_harness.coding.questions.follow_ups import FollowUp
from lsp_harness.coding.questions.odd_prompts import PastedOutput
from lsp_harness.coding.questions.project_facts import ProjectFacts
from lsp_harness.coding.questions.question_forms import is_surely_question
from lsp_harness.coding.shown_code import show_code
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.coding.write_code import NEW_MEMBER, WriteCode, WriteMember, WriteTestCode, find_members
from lsp_harness.coding.write_tests import WriteTests, find_target_function
from lsp_harness.errors import HarnessError, NoAnswer
from lsp_harness.events.code_events import ChecksCompleted, EditProposed
from lsp_harness.events.plan_events import FollowUpRead, IntentChosen, ItemCompleted, PlaceChosen
from lsp_harness.harness.edits.turns import Turns, TurnWork
from lsp_harness.harness.services import Services
from lsp_harness.harness.task_locator import TaskLocator
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.results import Proposal
from lsp_harness.sessions.explained_places import show_beside
from lsp_harness.sessions.prompt_facts import (
    ABILITIES,
    AnsweredQuestion,
    find_answer,
    find_findings,
    open_facts,
    read_prompt,
)
from lsp_harness.sessions.prompt_work import CodeResult, PromptWork, undo_all
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import run_checks
from lsp_harness.verify.finding import Finding, Verdict
from lsp_harness.verify.project_tests.comparison import FailureTrace

ALTERNATIVE = "name one that this folder has"
NOT_CLEAR = "This is not clear to me."
MAX_FIXED_FINDINGS = 3
"""Most findings of a place that are tried before the prompt is taken for the instruction of an edit."""
MAX_TRIED_FILES = 3
"""Most files whose tests run if a prompt about failing tests names no code."""
SECOND_REQUEST = "These are two requests. This is the first one; write the other one then: “{rest}”\n"
UNDOS = ("undo", "undo_all")
TEST_WORD = "test"


@dataclass(slots=True)
class CodeTurn:
    """The work on one prompt. Run it once.

    Attributes:
        services: The settings, documents, engine and checks that all parts of the harness share.
        turns: Creates the contexts of edits.
        locator: Finds the code that the prompt is about.
        turn: The turn.
        work: The prompt, and what is known about it.
        undo: Undoes the last edit of the session, and says in words what became of it. Raises UsageError.
        states: The states of the turn.
    """

    services: Services
    turns: Turns
    locator: TaskLocator
    turn: Turn
    work: PromptWork
    undo: Callable[[], Awaitable[str]]
    states: TurnStates = field(init=False)

    def __post_init__(self) -> None:
        self.states = TurnStates(self.turn)

    async def run(self) -> CodeResult:
        """Return what became of the prompt.

        Raises:
            HarnessError: No code fits the prompt, or no edit passes its checks.
        """
        try:
            return await self._run()
        except HarnessError as error:
            if not self.states.has_ended:
                self.states.enter("FAILED", reason=error.message)
            raise
        except BaseException:
            # cancelled, or a bug: the log must not end in the middle of a state
            self.states.enter("CANCELLED")
            raise

    async def _run(self) -> CodeResult:
        self.states.enter("UNDERSTAND")
        intent = self.work.known.intent
        if intent is None or intent.intent in ("question", "undo"):
            known = await self._understand_by_facts()
            if isinstance(known, CodeResult):
                return known
            intent = known
        # a follow-up has another task by now
        path = await self._find_new_file()
        intent = intent or await self._understand_prompt(path)
        self.states.outcome = _describe_intent(intent.intent, self.work)
        if path:
            return CodeResult("", path, await self._create_file(path))
        if intent.intent == "explain" and (answer := await self._explain_file()):
            return answer
        if intent.intent == "other":
            self.states.enter("ANSWER")
            return self._answer(f"{NOT_CLEAR} {ABILITIES}")
        self.states.enter("LOCATE")
        located = await self._locate()
        best = located.ranking.best
        self.states.outcome = f"Found {best.symbol or 'code'} at {best.place}{located.ranking.doubt_text}"
        if intent.intent == "explain":
            self.states.enter("ANSWER")
            return await self._explain(located, best)
        write = {"fix": self._fix, "generate": self._generate}.get(intent.intent, self._write_edit)
        return CodeResult("", best.place, await write(located, best))

    def _answer(self, text: str, place: str = "") -> CodeResult:
        self.turn.send_frame("text.delta", content=text)
        self.states.enter("COMPLETE")
        return CodeResult(text, place)

    async def _understand_by_facts(self) -> CodeResult | IntentChosen | None:
        """Return the answer to a question that the index, the checks or git can answer, what the user wants if it is
        the same as before, or None if only the model can say that.

        A follow-up becomes the prompt that it means.
        """
        facts = open_facts(self.services, self.locator)
        if facts is None:
            return None
        found = await read_prompt(facts, self.work.task, self.work.known.last)
        if isinstance(found, AnsweredQuestion):
            return self._answer_exactly(found)
        if isinstance(found, PastedOutput):
            self.work = replace(self.work, task=found.task, place=found.place)
            intent = IntentChosen("fix", "facts", "the prompt has the output of a tool")
            self.turn.append(intent)
            return intent
        return await self._follow(found, facts) if found else None

    async def _follow(self, follow_up: FollowUp, facts: ProjectFacts) -> CodeResult | IntentChosen | None:
        """Make the prompt that a follow-up means the prompt of this turn. See `_understand_by_facts`."""
        last = self.work.known.last
        self.turn.append(FollowUpRead(follow_up.kind, follow_up.task))
        if follow_up.rest:
            self.turn.send_frame("text.delta", content=SECOND_REQUEST.format(rest=follow_up.rest))
        if self.work.only_answers and (follow_up.kind in UNDOS or (follow_up.replaces_edit and last.is_applied)):
            raise NoAnswer("this prompt would undo an edit, and only an answer is wanted; write it in lsp-harness code")
        if follow_up.kind in UNDOS:
            undone = await (undo_all(self.undo) if follow_up.kind == "undo_all" else self.undo())
            self.states.outcome = "undo"
            self.turn.append(IntentChosen("undo", "facts", "the prompt asks to undo the last edit"))
            self.states.enter("ANSWER")
            return self._answer(undone)
        if follow_up.replaces_edit and last.is_applied:
            self.turn.send_frame("text.delta", content=f"{await self.undo()}\n")
        self.work = replace(self.work, task=follow_up.task, place=follow_up.place)
        if last.intent == "question" or follow_up.kind == "go_on":
            found = await find_answer(facts, follow_up.task)
            return self._answer_exactly(found) if found else None
        if self.work.only_answers:
            return None
        intent = IntentChosen(last.intent, "facts", "the prompt goes on with the last one")
        self.turn.append(intent)
        return intent

    def _answer_exactly(self, found: AnsweredQuestion) -> CodeResult:
        is_question = found.family != "nothing"
        reason = f"the index, the checks or git know {found.family}" if is_question else "it is a word or a command"
        self.turn.append(IntentChosen("question" if is_question else "other", "facts", reason))
        self.states.outcome = _describe_intent(f"question ({found.family})" if is_question else "other", self.work)
        if found.meant:
            self.turn.append(FollowUpRead("part", found.meant))
        if found.place:
            self.turn.append(found.place)
        self.states.enter("ANSWER")
        return self._answer(found.text, found.place.path if found.place else "")

    async def _find_new_file(self) -> str:
        """Return the path of the file that the prompt wants to be created, or an empty text.

        Raises:
            NoAnswer: The file exists, or would lie outside of the folder.
        """
        if self.work.only_answers or not may_create_file(self.work.task):
            return ""
        root, _ = self.locator.open_folder()
        return await find_new_file(self.services.index.query, root, self.work.task)

    async def _create_file(self, path: str) -> Proposal:
        """Write the text of a new file."""
        self.states.enter("LOCATE")
        self.states.outcome = f"New file {path}"
        root, _ = self.locator.open_folder()
        document, _ = open_or_begin(self.services.documents, root / path)
        context = await self._create_context(document, "edit")
        return self._record_single(context, await run_edit_task(CreateFile(context, Span(0, 0), self.work.task)))

    async def _understand_prompt(self, new_file: str) -> IntentChosen:
        if self.work.only_answers:
            intent = IntentChosen("explain", "facts", "only an answer is wanted")
        elif is_surely_question(self.work.task):
            intent = IntentChosen("explain", "facts", "the prompt asks and orders nothing")
        elif new_file:
            intent = IntentChosen("generate", "facts", "the prompt names a file that does not exist yet")
        elif parse_rename(self.work.task):
            intent = IntentChosen("edit", "facts", "the prompt asks for a rename and nothing else")
        elif known := understand_by_facts(self.work.task):
            intent = IntentChosen(known[0], "facts", known[1])
        else:
            temperature = self.services.config.generation.temperature_classify
            engine = self.services.engines.current
            intent = IntentChosen(await understand_prompt(engine, self.work.task, temperature), "model")
        self.turn.append(intent)
        return intent

    async def _locate(self) -> LocatedTask:
        known = self.work.known.place
        request = LocationRequest(self.work.place or describe_place(self.work.task), alternative=ALTERNATIVE)
        if known:
            place = TaskPlace(known.path, known.symbol, known.kind, known.first, known.last, "", 0.0, ())
            if located := self.locator.reopen(request, place, known.hash):
                return located
            self.work.known.forget_place()
        located = choose_renamed_function(await self.locator.locate(request), self.work.task)
        best, text_hash = located.ranking.best, located.document(located.ranking.best).hash
        others = tuple(place.place for place in located.ranking.others)
        place = best.path, best.symbol, best.kind, best.first, best.last, located.ranking.chooser, text_hash, others
        self.turn.append(PlaceChosen(*place))
        return located

    async def _create_context(self, document: Document, kind: str, place: str = "") -> TurnContext:
        """Return the context of one edit or answer, which is a part of this turn."""
        snapshot = self.services.workspace.snapshot(document)
        await self.turns.prepare(snapshot)
        work = TurnWork(kind, self.work.task, snapshot, lambda progress: None, place=place)
        context = self.turns.create_context(work, self.turn, self.work.summary)
        return replace(context, states=self.states, item=0)

    # -- intents
    async def _explain(self, located: LocatedTask, best: TaskPlace) -> CodeResult:
        """Show the lines that a question is about, and then what the model says about them."""
        document = located.document(best)
        shown = show_code(document, best.path, best.first, best.last, self.work.task)
        if (facts := open_facts(self.services, self.locator)) and (
            beside := await show_beside(facts, best, self.work.task)
        ):
            shown = f"{shown}\n\n{beside}"
        return await self._say_about(shown, document, located.span(best), best.place)

    async def _explain_file(self) -> CodeResult | None:
        """Show the declarations of the file that a question names, and then what the model says about it.

        Return None if the question names something else than one file.
        """
        file, facts = read_task(self.work.task).only_file, open_facts(self.services, self.locator)
        outline = await find_answer(facts, f"what is in {file.path}") if file and facts else None
        if facts is None or outline is None:
            return None
        self.states.enter("ANSWER")
        document = facts.read_text(outline.place.path) if outline.place else None
        if outline.place is None or document is None:
            # there is no such file, or no model may see it
            return self._answer(outline.text)
        self.turn.append(outline.place)
        return await self._say_about(outline.text, document, Span(0, len(document.data)), outline.place.path)

    async def _say_about(self, shown: str, document: Document, span: Span, place: str) -> CodeResult:
        """Show code at once, and then what the model says about it."""
        self.turn.send_frame("text.delta", content=f"{shown}\n\n")
        context = await self._create_context(document, "explain")
        try:
            words = await Explain(context, span, self.work.task).run()
        except NoAnswer as error:
            words = f"The model has not read it: {error.message}"
        self.turn.send_frame("text.delta", content=words)
        self.states.enter("COMPLETE")
        return CodeResult(f"{shown}\n\n{words}", place)

    async def _write_edit(self, located: LocatedTask, best: TaskPlace) -> Proposal:
        edits_dependents = self.services.config.generation.plan
        work = EditWork(self.work.task, self.work.known, self.turn, self.states, self._create_context, edits_dependents)
        edits = PlannedEdits(work, self.services.index.query, self.services.engines.current, located)
        written = await edits.write()
        if isinstance(written, Proposal):
            return self._propose(written)
        return await self._check_together(written, edits.summary, is_by_model=edits.is_by_model)

    async def _fix(self, located: LocatedTask, best: TaskPlace) -> Proposal:
        """Fix the present findings of the place or its failing tests, or else edit it by the prompt.

        Raises:
            NoAnswer: The prompt is about failing tests and names no code, and no test fails.
        """
        if read_task(self.work.task).repairs_tests and located.ranking.is_guess:
            best = await self._find_failing_place(located)
        document, span = located.document(best), located.span(best)

        async def run(context: TurnContext) -> Proposal:
            context = replace(context, mends_tests=True)
            for finding in await self._find_findings(document, span):
                # the place may have another finding, and the prompt may mean something that no tool reports
                with suppress(NoAnswer):
                    return await run_edit_task(Fix(context, finding))
            if trace := await self._find_failing_tests(context, span):
                # an edit that leaves these tests failing is no fix, so nothing else is tried
                reaches = _does_reach(context, trace, span)
                return await run_edit_task(RepairTests(context, trace, span if reaches else None))
            return await run_edit_task(Instruct(context, span, self.work.task))

        return await self._run_task(located, document, run)

    async def _find_failing_place(self, located: LocatedTask) -> TaskPlace:
        """Return the first place of a file on which failing tests depend.

        Raises:
            NoAnswer: No test that depends on the found files fails, or none can run.
        """
        reasons: list[str] = []
        places = {place.path: place for place in reversed(located.ranking.candidates)}
        for place in sorted(places.values(), key=located.ranking.candidates.index)[:MAX_TRIED_FILES]:
            context = await self._create_context(located.document(place), "edit")
            try:
                await find_failures(context, records_lines=False)
            except NoAnswer as error:
                reasons.append(error.message)
            else:
                return place
        raise NoAnswer(f"{reasons[0]}; name the code or the test that is wrong")

    async def _find_failing_tests(self, context: TurnContext, span: Span) -> FailureTrace | None:
        """Return the failing tests that run the code of a place, or None.

        If the prompt is about failing tests, they need not run the code that was found: they say themselves where the
        file is wrong.

        Raises:
            NothingFails: The prompt is about failing tests, and they pass.
        """
        is_about_tests = read_task(self.work.task).repairs_tests
        try:
            trace = await find_failures(context)
        except NothingFails:
            if is_about_tests:
                raise
            return None
        except NoAnswer:
            return None
        if is_about_tests:
            # other tests of the project may fail, too
            return limit_to_named(trace, self.work.task)
        return trace if _does_reach(context, trace, span) else None

    async def _find_findings(self, document: Document, span: Span) -> Sequence[Finding]:
        """Return the findings of a place, those first whose code the prompt names."""
        found = await find_findings(self.services, document)
        words = set(self.work.task.replace(",", " ").split())
        local = [finding for finding in found if span.start <= finding.start < span.end]
        return sorted(local, key=lambda finding: (finding.code not in words, finding.start))[:MAX_FIXED_FINDINGS]

    async def _generate(self, located: LocatedTask, best: TaskPlace) -> Proposal:
        """Write tests, a docstring, or new code below the place."""
        document, span = located.document(best), located.span(best)
        task = self.work.task
        if DOCSTRING_WORDS.search(task):
            return await self._run_task(located, document, lambda context: run_edit_task(WriteDocstring(context, span)))
        tree = await asyncio.to_thread(parse, document)
        snapshot = self.services.workspace.snapshot(document)
        function = find_target_function(tree, span.start, snapshot.path) if tree and TEST_WORD in task.lower() else None
        if function and snapshot.root and snapshot.file:
            index = self.services.index.query
            test_file = await find_test_file(index, snapshot.root, snapshot.file, function.name)
            test_document, _ = open_or_begin(self.services.documents, test_file)
            return await self._run_task(
                located, test_document, lambda context: run_edit_task(WriteTests(context, function))
            )
        write: type[WriteCode] = WriteCode
        if tree and tree.language.tests.node and snapshot.root and snapshot.file and ASKS_FOR_TESTS.search(task):
            places = self.services.index.query, self.services.documents, snapshot.root, snapshot.file
            document, span = await find_test_place(*places, document)
            write = WriteTestCode
        elif tree and NEW_MEMBER.search(task) and (members := find_members(tree, span)):
            write, span = WriteMember, Span(members[-1].start, members[-1].end)
        return await self._run_task(located, document, lambda context: run_edit_task(write(context, span, task)))

    async def _run_task(
        self, located: LocatedTask, document: Document, run: Callable[[TurnContext], Awaitable[Proposal]]
    ) -> Proposal:
        """Propose the edit of a single document. If an earlier process has written it, it is only checked again."""
        context = await self._create_context(document, "edit")
        item, texts = self.work.known.items.get(0), TurnTexts(located.root, located.read_text)
        if item and item.path == context.path and texts.repeat(item):
            self.states.enter("GENERATE", reason=REPEATED)
            return await self._check_together(texts.create_changes(), REPEATED_SUMMARY, is_by_model=True)
        return self._record_single(context, await run(context))

    def _record_single(self, context: TurnContext, proposal: Proposal) -> Proposal:
        """Record the only edit of a turn and propose it."""
        edits = describe_edits(proposal.changes.main.edits)
        self.turn.append(ItemCompleted(0, context.path, context.document.hash, edits, proposal.summary))
        return self._propose(proposal)

    # -- proposals
    async def _check_together(self, changes: ChangeSet, maker: str, *, is_by_model: bool) -> Proposal:
        """Check edits together, and propose them.

        Raises:
            NoAnswer: They do not pass.
        """
        context = await self._create_context(changes.main.before, "edit")
        if self.states.current != "VERIFY":
            self.states.enter("VERIFY")
        finished = await finish_changes(context, changes, is_by_model=is_by_model)
        changes = finished.changes
        verdict = await run_checks(changes, context.create_checks())
        verdict = replace(verdict, outcomes=(*finished.notes, *verdict.outcomes))
        self.turn.append(ChecksCompleted.from_verdict(verdict, 0))
        if not verdict.passed:
            lines = [line for outcome in verdict.outcomes if outcome.status == "failed" for line in outcome.lines]
            raise NoAnswer("; ".join(["The edits do not pass the checks together", *lines[:3]]))
        return self._propose(self._describe(changes, verdict, maker, is_by_model=is_by_model))

    def _describe(self, changes: ChangeSet, verdict: Verdict, maker: str, *, is_by_model: bool) -> Proposal:
        # of several folders of the workspace, the code may be in any one
        text = "".join(
            change.create_diff(change.file.relative_to(change.root or change.file.parent).as_posix())
            for change in changes
        )
        return Proposal("", changes, verdict, text, verdict.conclude(maker), self.turn.number, is_by_model)

    def _propose(self, proposal: Proposal) -> Proposal:
        """Record a proposal and end the turn.

        Raises:
            NoAnswer: It changes a test that the prompt wants to pass.
        """
        if read_task(self.work.task).repairs_tests:
            tests = [change.file.name for change in proposal.changes if is_test_file(change)]
            if tests:
                raise NoAnswer(
                    f"the edit changes the test in {tests[0]} and not the code under test; nothing was changed"
                )
        event = self.turn.append(EditProposed(proposal.verdict.hash, proposal.diff, proposal.summary))
        self.states.enter("COMPLETE")
        return replace(proposal, id=event.id)


def is_test_file(change: Change) -> bool:
    """Return whether a change is in a file with tests."""
    root = change.root or change.file.parent
    return TEST_PATH.search(change.file.relative_to(root).as_posix()) is not None


def _does_reach(context: TurnContext, trace: FailureTrace, span: Span) -> bool:
    """Return whether a failing test runs a line of a span."""
    line_of = context.document.line_of
    return trace.reaches(range(line_of(span.start) + 1, line_of(span.end) + 2))


def _describe_intent(intent: str, work: PromptWork) -> str:
    """Return what a prompt asks for, and the prompt that a follow-up means."""
    return intent if work.task == work.known.text else f"{intent}, read as “{work.task}”"
