"""The driver of prompts about code: understand, locate, plan, write, check, ask, apply (see `code_turns`)."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.chat.tools.tool_environment import EditorTexts
from lsp_harness.coding.questions.odd_prompts import clean_prompt
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, StaleDocument
from lsp_harness.events.code_events import EditApplied, EditRejected, EditStale
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.edits.proposals import require_unchanged, write_changes
from lsp_harness.harness.edits.turns import Turns
from lsp_harness.harness.services import Services
from lsp_harness.harness.task_locator import TaskLocator
from lsp_harness.harness.verification.edit_permission import create_edit_action
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.inference.client import Engine
from lsp_harness.kernel.driver import SteeredSession, begin_step
from lsp_harness.kernel.limits import Budget, Ending
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.code_progress import CodeProgress
from lsp_harness.kernel.projections.session_state import SessionState
from lsp_harness.kernel.results import Proposal
from lsp_harness.permission.action import Action, Decision
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.project.command_project import QuietOutput
from lsp_harness.project.lazy_index import LazyIndex
from lsp_harness.project.project_index import open_ready_index
from lsp_harness.sessions.code_turn import CodeTurn
from lsp_harness.sessions.edit_copies import EditCopies
from lsp_harness.sessions.prompt_work import PromptWork
from lsp_harness.sessions.session_undo import UndoResult, describe_undo
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, hash_texts
from lsp_harness.workspace.workspace import Workspace


@dataclass(slots=True)
class EditDriver:
    """Makes each prompt one checked edit of the code that it is about, or answers it (see `Driver`).

    Attributes:
        config: The settings.
        engine: The client of the model.
        workspace: The folder of the session.
        verifier: The checks of an edit.
        gate: Decides whether an edit is applied.
        copies: Copies the files before they are written, for undo.
        index: The index that other tools of the session use, too.
        editor: The unsaved texts of the editor, or None without an editor.
        undo: Undoes the last edit of the session (see `OpenSession.undo`).
        only_answers: Whether each prompt is a question, and nothing is changed.
        writes: Whether an edit that the gate allows is applied. If not, the turn ends with the proposal.
    """

    name = "code"
    is_exclusive = True

    config: Config
    engine: Engine
    workspace: Workspace
    verifier: Verifier
    gate: PermissionGate
    copies: EditCopies
    index: LazyIndex
    undo: Callable[[], Awaitable[UndoResult]]
    editor: EditorTexts | None = None
    only_answers: bool = False
    writes: bool = True

    async def run(self, turn: Turn, session: SteeredSession, budget: Budget) -> Ending:
        """Answer the prompt, or make a proposal and apply it if the gate allows it.

        Raises:
            HarnessError: No code fits the task, no candidate passes its checks, or a file changed meanwhile.
        """
        session.take_steering(turn)
        if ending := begin_step(0, turn, session, budget):
            return ending
        work = replace(_read_prompt(session.state, turn), only_answers=self.only_answers)
        if self._is_written(work.known):
            # the process was killed between the last write and its event
            turn.append(EditApplied(work.known.proposal_id))
            return _complete("the edit of the interrupted turn is applied already")
        async with self._open_services() as services:
            turns = Turns(services)
            result = await CodeTurn(services, turns, TaskLocator(services, turns), turn, work, self._undo_last).run()
        if result.proposal is None:
            return _complete(result.text)
        title, proposal = f"{result.place}: {result.proposal.summary}", result.proposal
        if not self.writes:
            return _complete(f"{title}; proposed")
        action = create_edit_action(proposal, turn.session_id)
        decision = self._recall_decision(work.known, proposal, action, turn) or await self.gate.check(action)
        is_same = decision.updated_input in (None, action.input)
        if decision.is_allowed and is_same:
            await self._apply(proposal, turn)
            return _complete(f"{title}; applied")
        reason = decision.reason if is_same else "a checked edit cannot be replaced by another one"
        turn.append(EditRejected(proposal.id, reason))
        return Ending("denied", "denied", f"{title}; not applied: {reason}")

    def _is_written(self, known: CodeProgress) -> bool:
        """Return whether the files have the texts of a proposal that was allowed."""
        if not (known.proposal and known.allowed):
            return False
        [root] = self.workspace.roots
        paths = dict.fromkeys(item.path for item in known.items.values() if item.edits)
        try:
            texts = [
                Document.from_text((root / path).as_uri(), read_file(root / path, MAX_TEXT_BYTES)) for path in paths
            ]
        except FileError:
            return False
        return bool(texts) and hash_texts(texts) == known.proposal.hash

    def _recall_decision(self, known: CodeProgress, proposal: Proposal, action: Action, turn: Turn) -> Decision | None:
        """Return the answer of the user to the same question in a turn whose process was killed, or None.

        It only counts if the settings would ask again: a rule or a mode of now wins.
        """
        is_same = known.proposal is not None and known.proposal.hash == proposal.verdict.hash
        if not (known.allowed and is_same) or self.gate.explain(action).decision is not None:
            return None
        reason = "it was allowed before the process was killed"
        turn.append(replace(known.allowed, reason=reason))
        return Decision("allow", "person", reason)

    @asynccontextmanager
    async def _open_services(self) -> AsyncGenerator[Services]:
        """Yield the index of the folder and the unsaved texts of the editor."""
        [root] = self.workspace.roots
        await self.index.settle()
        async with open_ready_index(root, self.config, QuietOutput(), creates_index=True) as index:
            services = Services(
                self.config, lambda config: self.engine, self.workspace, index=index, verifier=self.verifier
            )
            for document in self._unsaved_texts().values():
                services.documents.open(document)
            yield services

    def _unsaved_texts(self) -> dict[Path, Document]:
        return dict(self.editor.unsaved()) if self.editor else {}

    async def _undo_last(self) -> str:
        undone = await self.undo()
        [root] = self.workspace.roots
        for path in undone.paths:
            self.index.refresh(root / path)
        await self.index.settle()
        return "\n".join(describe_undo(undone))

    async def _apply(self, proposal: Proposal, turn: Turn) -> None:
        unsaved = self._unsaved_texts()
        files: list[tuple[Path, Change]] = []
        texts: list[tuple[Document, Change]] = []
        for change in proposal.changes:
            if document := unsaved.get(resolve_links(change.file)):
                texts.append((document, change))
            else:
                files.append((change.file, change))
        try:
            require_unchanged(files)
            for document, change in texts:
                if document.hash != change.before.hash:
                    raise StaleDocument(f"{change.file} changed while the edit was computed; run it again")
            await self.copies.keep({file: change.after.data for file, change in files})
            write_changes(files)
            for file, _ in files:
                self.index.refresh(file)
            for document, change in texts:
                # the text belongs to the user, who undoes and saves it in the editor
                if self.editor:
                    await self.editor.apply(document, change.edits)
        except StaleDocument:
            turn.append(EditStale(proposal.verdict.hash))
            raise
        finally:
            await self.copies.seal()
        turn.append(EditApplied(proposal.id))


def _read_prompt(state: SessionState, turn: Turn) -> PromptWork:
    """Return what the user wrote in a turn, what the session did before, and what is known of this prompt."""
    messages = [message for message in state.conversation.messages if message.turn == turn.number]
    task = "\n".join(message.text for message in messages if message.role == "user")
    # the state is that of the log, and this turn may find out that a part of it is outdated
    return PromptWork(clean_prompt(task), state.summary, copy(state.code))


def _complete(text: str) -> Ending:
    return Ending("completed", "pipeline_done", text)
