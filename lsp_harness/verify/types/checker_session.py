"""One type checker that runs for one workspace folder: its start, its documents, and what it finds in a text.

The texts need not be on disk. A candidate is sent as a new version of the document that it would change. Before the
checker looks at another document, it gets the present text of every document.
"""

import asyncio
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from lsp_harness.config.load import trust_remedy
from lsp_harness.errors import HarnessError
from lsp_harness.languages.language_table import find_language
from lsp_harness.process.sandbox.sandbox import Confinement
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tests.hidden_files import list_private_paths
from lsp_harness.verify.types.conversation import CheckerConversation
from lsp_harness.verify.types.message_child import ChildFailed, Json
from lsp_harness.verify.types.type_checker import Program, TypeChecker
from lsp_harness.workspace.folder_stamps import ChangedFile

State = Literal["off", "starting", "ready", "missing", "failed"]
"""The state of a session: `failed` means that it is not started again."""
MAX_RESTARTS = 3
RESTART_PAUSE_S = 5.0
"""Time before the first restart. Before each further one it is as long again."""
LOOK_AGAIN_S = 60.0
"""Time after which a program that was missing is searched again."""
ANSWER_LIMIT_S = 30.0
"""A checker that needs longer for one text counts as stuck and is ended."""
MAX_WAITING_TEXTS = 2
"""How many texts may wait for the checker. Further ones are not checked."""
MAX_ANSWERS = 64
MAX_CHANGES = 500
"""Most changed files that a checker is told. For more, as after a change of the branch, it is started again."""


Key = tuple[int, str, tuple[tuple[str, str], ...]]
"""The number of the state of the files on disk, the URI of a document, and the URI and hash of each text that the
checker has meanwhile."""


class CheckerBusy(HarnessError):
    """The checker still works on earlier texts."""


class CheckerSession:
    """A type checker for one workspace folder. It starts in the background.

    Args:
        checker: The type checker.
        root: The workspace folder.
        read_python: Returns the Python environment of the settings.
        list_open_texts: Returns the present texts of the open documents.
        now_s: Returns the present time in seconds.
        may_run_code: Returns whether code of the folder may run without a sandbox.
        choose_sandbox: Returns the sandbox of this machine.

    Attributes:
        folder: The folder of the project, in which it runs. At first it is the workspace folder.
        checker: The type checker.
        reason: Why it does not run, or an empty text.
    """

    def __init__(
        self,
        checker: TypeChecker,
        root: Path,
        read_python: Callable[[], str],
        list_open_texts: Callable[[], Iterable[Document]],
        now_s: Callable[[], float] = monotonic,
        may_run_code: Callable[[], bool] = lambda: True,
        choose_sandbox: Callable[[], SandboxChoice] = machine_sandbox,
    ) -> None:
        self.checker = checker
        self.reason = ""
        self._root = root
        self.folder = root
        self._read_python = read_python
        self._list_open_texts = list_open_texts
        self._now_s = now_s
        self._may_run_code = may_run_code
        self._choose_sandbox = choose_sandbox
        self._conversation: CheckerConversation | None = None
        self._starting: asyncio.Task[None] | None = None
        self._begun_s = 0.0
        self._is_warm = False
        self._is_missing = False
        self._must_restart = False
        self._failures = 0
        self._next_start_s = float("-inf")
        self._answers = _Answers()
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[tuple[Finding, ...]]] = set()
        self._closings: set[asyncio.Task[None]] = set()

    @property
    def state(self) -> State:
        """The present state."""
        if self._failures > MAX_RESTARTS:
            return "failed"
        if self._is_missing:
            return "missing"
        if self._starting:
            return "starting"
        return "ready" if self._is_warm else "off"

    def find_confinement(self) -> Confinement | None:
        """Return the sandbox in which the checker runs, or None. The first call takes some milliseconds."""
        return self._choose_sandbox().confine(self._root) if self.checker.only_reads else None

    @property
    def environment(self) -> str:
        """The Python environment of the project, or an empty text."""
        return self._read_python()

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks)

    # -- start and end
    def prepare(self, document: Document) -> bool:
        """Return whether the checker is ready. If not, start it in the background, with a document to look at."""
        if self._is_warm and self._conversation and self._conversation.has_ended:
            self._record_failure("it ended")
        if self._is_warm:
            return True
        if self._starting is None and self.state != "failed" and self._now_s() >= self._next_start_s:
            self._starting, self._begun_s = asyncio.ensure_future(self._start(document)), self._now_s()
        return False

    async def wait_until_ready(self, document: Document, limit_s: float | None = None) -> bool:
        """Wait until the checker has started, and return whether it is ready. If not, `reason` says why.

        Args:
            document: A text to look at.
            limit_s: Maximum time since the beginning of its start, however often it is waited for.

        Raises:
            TimeoutError: It still starts.
        """
        if not self.prepare(document) and self._starting:
            left_s = None if limit_s is None else max(0.0, self._begun_s + limit_s - self._now_s())
            async with asyncio.timeout(left_s):
                await asyncio.shield(self._starting)
        return self._is_warm

    async def _start(self, document: Document) -> None:
        try:
            program = self._find_program(document)
            self._is_missing = program is None
            if program is None:
                self.reason = self._missing_reason
                self._next_start_s = self._now_s() + LOOK_AGAIN_S
                return
            argv = await asyncio.to_thread(self._confine, program.argv)
            while self._conversation is None:
                self._must_restart = False
                self._conversation = await program.start(argv, self.folder, self._make_settings)
                await self._ask(document, self._find_texts(document))
                if self._must_restart:
                    # packages were installed while it started
                    self._end_conversation()
            self._is_warm, self.reason = True, ""
        except TimeoutError:
            self._record_failure("it did not answer")
        except (OSError, HarnessError, KeyError, TypeError) as error:
            self._record_failure(f"it did not start: {error}")
        finally:
            self._starting = None

    def _confine(self, argv: Sequence[str]) -> Sequence[str]:
        if not (confinement := self.find_confinement()):
            return argv
        # its own folder and the environment of the project may lie where a sandbox hides files of other programs
        program, python = Path(argv[0]), self._root / Path(self._read_python()).expanduser()
        visible = (program.parent, program.resolve().parent, Path(sys.prefix), python, python.resolve(), self._root)
        private = list_private_paths(self._root, needed=visible)
        return confinement.sandbox.wrap(argv, SandboxPolicy(self.folder, visible=visible, absent=private))

    def _find_program(self, document: Document) -> Program | None:
        if not self._may_run_code():
            return self.checker.find_static_program()
        file = local_path(document.uri) or self._root / "file"
        return self.checker.find_program(self._root, file, self._read_python())

    @property
    def _missing_reason(self) -> str:
        if self._may_run_code():
            return f"{self.checker.name} is not installed ({self.checker.install_hint})"
        return f"{self.checker.name} could run code of this folder without a sandbox; {trust_remedy()}"

    def _make_settings(self) -> Json:
        return self.checker.settings(self.folder, self._read_python())

    def _record_failure(self, reason: str) -> None:
        """Record that the checker ended or does not answer. It is started again after a pause, but not always."""
        conversation, self._conversation = self._conversation, None
        words = conversation.last_words if conversation else ""
        self._is_warm = False
        self._failures += 1
        self._next_start_s = self._now_s() + RESTART_PAUSE_S * self._failures
        self.reason = f"{self.checker.name} failed: {reason}" + (f" ({words})" if words else "")
        if self._failures > MAX_RESTARTS:
            self.reason += "; it is not started again"
        self._answers.clear()
        if conversation:
            self._close_later(conversation)

    def _close_later(self, conversation: CheckerConversation) -> None:
        closing = asyncio.ensure_future(conversation.close())
        # the loop keeps only a weak reference to a task
        self._closings.add(closing)
        closing.add_done_callback(self._closings.discard)

    async def aclose(self) -> None:
        """End the checker."""
        tasks: list[asyncio.Task[Any]] = [*self._tasks, *([self._starting] if self._starting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._closings, return_exceptions=True)
        conversation, self._conversation, self._is_warm = self._conversation, None, False
        if conversation:
            await conversation.close()

    # -- findings
    async def find_findings(
        self, document: Document, others: Iterable[Document] = (), *, is_patient: bool = False
    ) -> tuple[Finding, ...]:
        """Return all findings in a text. If the caller stops waiting, the answer is kept for the next time.

        Args:
            document: The text.
            others: Texts of other documents that the checker sees instead of the open ones and those on disk.
            is_patient: Whether to wait, however many texts wait already.

        Raises:
            CheckerBusy: Other texts wait already.
            ChildFailed: The checker ended.
            TimeoutError: The checker does not answer.
        """
        texts = self._find_texts(document, others)
        key = self._answers.state_number, document.uri, tuple((text.uri, text.hash) for text in texts)
        if (known := self._answers.find(key)) is not None:
            return known
        if len(self._tasks) > MAX_WAITING_TEXTS and not is_patient:
            raise CheckerBusy(f"{self.checker.name} is busy")
        task = asyncio.ensure_future(self._look(key, document, texts))
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return await asyncio.shield(task)

    def _end(self, task: "asyncio.Task[tuple[Finding, ...]]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # nobody may wait for it any more
            task.exception()

    def _find_texts(self, document: Document, others: Iterable[Document] = ()) -> tuple[Document, ...]:
        """Return the texts that the checker has while it looks at a document, which is the last one."""
        texts = {text.uri: text for text in (*filter(self._is_ours, self._list_open_texts()), *others)}
        texts.pop(document.uri, None)
        return (*texts.values(), document)

    async def _look(self, key: Key, document: Document, texts: Sequence[Document]) -> tuple[Finding, ...]:
        conversation = self._conversation
        try:
            findings = await self._ask(document, texts)
        except TimeoutError:
            if conversation is self._conversation:
                self._record_failure("it did not answer")
            raise
        self._answers.keep(key, findings)
        return findings

    async def leaves_out(self, document: Document) -> bool:
        """Return whether the checker says that the settings of the project leave a text out.

        Raises:
            ChildFailed: The checker ended.
            TimeoutError: The checker does not answer.
        """
        async with self._lock:
            if self._conversation is None:
                raise ChildFailed(f"{self.checker.name} has ended")
            self._conversation.send_only(self._find_texts(document))
            return await self._conversation.leaves_out(document, ANSWER_LIMIT_S)

    async def _ask(self, document: Document, texts: Sequence[Document]) -> tuple[Finding, ...]:
        async with self._lock:
            conversation = self._conversation
            if conversation is None:
                raise ChildFailed(f"{self.checker.name} has ended")
            conversation.send_only(texts)
            findings = await conversation.find_findings(document, ANSWER_LIMIT_S)
        return tuple(
            replace(self.checker.interpret(finding, document), source=self.checker.name) for finding in findings
        )

    def _is_ours(self, document: Document) -> bool:
        path = local_path(document.uri)
        is_inside = path is not None and path.is_relative_to(self.folder)
        return is_inside and find_language(document.language).type_checker == self.checker.name

    # -- changes elsewhere
    def forget_document(self, uri: str) -> None:
        """Let the checker read a document from disk again. It was closed."""
        if self._conversation:
            self._conversation.forget_text(uri)
        self._answers.clear()

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        """Tell the checker which files were created, changed or deleted. For packages, it is started again."""
        self._answers.clear()
        if len(changes) > MAX_CHANGES or any(change.scope == "packages" for change in changes):
            self._must_restart = True
            if self._is_warm or self._is_missing:
                # one that was missing may be installed now
                self._end_conversation()
        elif self._conversation:
            self._conversation.record_file_changes(changes)

    def _end_conversation(self) -> None:
        """End the process. The next question starts another one."""
        conversation, self._conversation, self._is_warm = self._conversation, None, False
        self._next_start_s = float("-inf")
        if conversation:
            self._close_later(conversation)


class _Answers:
    """The last answers about the files on disk as they are.

    Attributes:
        state_number: The number of the state of the files. An answer about an earlier state is not kept.
    """

    def __init__(self) -> None:
        self.state_number = 0
        self._by_key: OrderedDict[Key, tuple[Finding, ...]] = OrderedDict()

    def find(self, key: Key) -> tuple[Finding, ...] | None:
        """Return the answer that is kept, or None."""
        if key in self._by_key:
            self._by_key.move_to_end(key)
        return self._by_key.get(key)

    def keep(self, key: Key, findings: tuple[Finding, ...]) -> None:
        """Keep an answer, unless the files have changed since the question."""
        if key[0] == self.state_number:
            self._by_key[key] = findings
        while len(self._by_key) > MAX_ANSWERS:
            self._by_key.popitem(last=False)

    def clear(self) -> None:
        """Forget all answers, also those to the questions under way."""
        self.state_number += 1
        self._by_key.clear()
