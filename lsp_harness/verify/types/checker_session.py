"""One type checker that runs for one workspace folder: its start, its documents, and what it finds in a text.

The texts need not be on disk. A candidate is sent as a new version of the document that it would change. Before the
checker looks at another document, it gets the present text of every document.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal, cast

from lsp_harness.errors import HarnessError
from lsp_harness.languages.language_table import find_language
from lsp_harness.text.document import Document
from lsp_harness.text.position import Encoding, Position
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding, Severity
from lsp_harness.verify.types.lsp_child import ChildFailed, LspChild
from lsp_harness.verify.types.type_checker import TypeChecker

Json = dict[str, Any]
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
SEVERITIES: dict[int, Severity] = {1: "error", 2: "warning", 3: "information", 4: "hint"}


class CheckerBusy(HarnessError):
    """The checker still works on earlier texts."""


@dataclass(slots=True)
class _SentText:
    """The text of a document as the checker has it."""

    version: int
    data: bytes


class CheckerSession:
    """A type checker for one workspace folder. It starts in the background.

    Args:
        checker: The type checker.
        root: The workspace folder.
        read_python: Returns the Python environment of the settings.
        list_open_texts: Returns the present texts of the open documents.
        now_s: Returns the present time in seconds.

    Attributes:
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
    ) -> None:
        self.checker = checker
        self.reason = ""
        self._root = root
        self._read_python = read_python
        self._list_open_texts = list_open_texts
        self._now_s = now_s
        self._child: LspChild | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_warm = False
        self._is_missing = False
        self._failures = 0
        self._next_start_s = float("-inf")
        self._sent_texts: dict[str, _SentText] = {}
        self._answers: OrderedDict[tuple[str, str], tuple[Finding, ...]] = OrderedDict()
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

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks)

    # -- start and end
    def prepare(self, document: Document) -> bool:
        """Return whether it is ready. If not, it is started in the background, with a document to look at."""
        if self._is_warm and self._child and self._child.has_ended:
            self._record_failure("it ended")
        if self._is_warm:
            return True
        if self._starting is None and self.state != "failed" and self._now_s() >= self._next_start_s:
            self._starting = asyncio.ensure_future(self._start(document))
        return False

    async def _start(self, document: Document) -> None:
        try:
            command = self.checker.find_command(self._root)
            self._is_missing = command is None
            if command is None:
                self.reason = f"{self.checker.name} is not installed ({self.checker.install_hint})"
                self._next_start_s = self._now_s() + LOOK_AGAIN_S
                return
            self._child = await LspChild.start(command, self._root, self._settings)
            await self._ask(document)
            self._is_warm, self.reason = True, ""
        except TimeoutError:
            self._record_failure("it did not answer")
        except (OSError, HarnessError, KeyError, TypeError) as error:
            self._record_failure(f"it did not start: {error}")
        finally:
            self._starting = None

    def _settings(self) -> Json:
        return self.checker.settings(self._root, self._read_python())

    def _record_failure(self, reason: str) -> None:
        """Record that the child ended or does not answer. It is started again after a pause, but not always."""
        child, self._child = self._child, None
        words = child.last_words if child else ""
        self._is_warm = False
        self._failures += 1
        self._next_start_s = self._now_s() + RESTART_PAUSE_S * self._failures
        self.reason = f"{self.checker.name} failed: {reason}" + (f" ({words})" if words else "")
        if self._failures > MAX_RESTARTS:
            self.reason += "; it is not started again"
        self._sent_texts.clear()
        self._answers.clear()
        if child:
            closing = asyncio.ensure_future(child.close())
            # the loop keeps only a weak reference to a task
            self._closings.add(closing)
            closing.add_done_callback(self._closings.discard)

    async def aclose(self) -> None:
        """End the checker."""
        tasks: list[asyncio.Task[Any]] = [*self._tasks, *([self._starting] if self._starting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._closings, return_exceptions=True)
        child, self._child, self._is_warm = self._child, None, False
        if child:
            await child.close()

    # -- findings
    async def find_findings(self, document: Document) -> tuple[Finding, ...]:
        """Return all findings in a text. If the caller stops waiting, the answer is kept for the next time.

        Raises:
            CheckerBusy: Other texts wait already.
            ChildFailed: The checker ended.
            TimeoutError: The checker does not answer.
        """
        key = document.uri, document.hash
        if key in self._answers:
            self._answers.move_to_end(key)
            return self._answers[key]
        if len(self._tasks) > MAX_WAITING_TEXTS:
            raise CheckerBusy(f"{self.checker.name} is busy")
        task = asyncio.ensure_future(self._look(key, document))
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return await asyncio.shield(task)

    def _end(self, task: "asyncio.Task[tuple[Finding, ...]]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # nobody may wait for it any more
            task.exception()

    async def _look(self, key: tuple[str, str], document: Document) -> tuple[Finding, ...]:
        child = self._child
        try:
            findings = await self._ask(document)
        except TimeoutError:
            if child is self._child:
                self._record_failure("it did not answer")
            raise
        self._answers[key] = findings
        while len(self._answers) > MAX_ANSWERS:
            self._answers.popitem(last=False)
        return findings

    async def _ask(self, document: Document) -> tuple[Finding, ...]:
        async with self._lock:
            child = self._child
            if child is None:
                raise ChildFailed(f"{self.checker.name} has ended")
            for other in self._list_open_texts():
                if other.uri != document.uri and self._is_ours(other):
                    self._send_text(child, other)
            self._send_text(child, document)
            params = {"textDocument": {"uri": document.uri}}
            answer = await child.request("textDocument/diagnostic", params, ANSWER_LIMIT_S)
        items = cast("list[Json]", cast("Json", answer or {}).get("items") or [])
        return tuple(_to_finding(item, document, self.checker.name, cast("Encoding", child.encoding)) for item in items)

    def _is_ours(self, document: Document) -> bool:
        path = local_path(document.uri)
        is_inside = path is not None and path.is_relative_to(self._root)
        return is_inside and find_language(document.language).type_checker == self.checker.name

    def _send_text(self, child: LspChild, document: Document) -> None:
        sent_text = self._sent_texts.get(document.uri)
        if sent_text is None:
            self._sent_texts[document.uri] = _SentText(1, document.data)
            item = {"uri": document.uri, "languageId": document.language, "version": 1, "text": document.text}
            child.notify("textDocument/didOpen", {"textDocument": item})
        elif sent_text.data != document.data:
            sent_text.version, sent_text.data = sent_text.version + 1, document.data
            item = {"uri": document.uri, "version": sent_text.version}
            changes = [{"text": document.text}]
            child.notify("textDocument/didChange", {"textDocument": item, "contentChanges": changes})

    # -- changes elsewhere
    def forget_document(self, uri: str) -> None:
        """Let the checker read a document from disk again. It was closed."""
        if self._sent_texts.pop(uri, None) and self._child:
            self._child.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self._answers.clear()

    def record_file_change(self, uri: str) -> None:
        """Tell the checker that a file changed on disk."""
        self._answers.clear()
        if self._child:
            self._child.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})


def _to_finding(item: Json, document: Document, source: str, encoding: Encoding) -> Finding:
    start, end = (
        document.offset(Position(item["range"][side]["line"], item["range"][side]["character"]), encoding)
        for side in ("start", "end")
    )
    # the lines below the first say where was searched
    message = str(item.get("message", "")).split("\n", 1)[0]
    severity = SEVERITIES.get(item.get("severity", 1), "error")
    return Finding(start, max(start, end), message, source, str(item.get("code") or ""), severity)
