"""The syntax tree of one open document, within a budget of time, kept up to date with every edit.

This is the only place that decides whether a text has a tree. An ordinary text is parsed at once and its tree follows
each key press. A text that takes longer is parsed in a thread, after a separate process has tried it. A text that costs
more than the budget has no tree and says why. It is tried again after a pause that doubles each time, not at each key.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from lsp_harness.errors import RequestSuperseded
from lsp_harness.process.process_group import group_options
from lsp_harness.process.tool_run import kill_group
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudget, ParseBudgetExceeded
from lsp_harness.syntax.plain_text import is_plain_text
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

if TYPE_CHECKING:
    from lsp_harness.syntax.symbols.declarations import Declaration
    from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
    from lsp_harness.syntax.tree import SyntaxTree

log = logging.getLogger(__name__)

WORKER_MODULE = "lsp_harness.syntax.parse_worker"
TIMEOUT_S = 4.0
"""Time limit for one text, waiting for a core included. The process ends itself after less time on a core."""
CRASH_REASON = "its parser crashed or never ended"


class Trials:
    """The process that first parses texts that may crash the parser.

    Args:
        command: The command of the process. The default is `syntax.parse_worker`.
        timeout_s: Time limit for one text.
    """

    def __init__(self, *command: str, timeout_s: float = TIMEOUT_S) -> None:
        self._command = command or (sys.executable, "-P", "-m", WORKER_MODULE)
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def refusal_reason(self, language: str, data: bytes) -> str:
        """Return why a text cannot be parsed. Empty if this process may parse it."""
        async with self._turn:
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await self._ask(language, data)
            except (TimeoutError, OSError, EOFError, ValueError) as error:
                log.info("a text could not be tried: %r", error)
                await self._end()
                return CRASH_REASON
            except asyncio.CancelledError:
                # The process would answer for a text about which no caller asks any more.
                await self._end()
                raise

    async def aclose(self) -> None:
        await self._end()

    async def _ask(self, language: str, data: bytes) -> str:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                **group_options(),
            )
        requests, answers = self._process.stdin, self._process.stdout
        assert requests
        assert answers
        requests.write(json.dumps({"language": language, "size": len(data)}).encode() + b"\n" + data)
        await requests.drain()
        line = await answers.readline()
        if not line:
            raise EOFError("the process has ended")
        return str(json.loads(line)["why"])

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            with suppress(ProcessLookupError):
                await kill_group(process)


FIRST_PAUSE_S, MAX_PAUSE_S = 2.0, 120.0
"""Pause between two attempts to parse a text that costs too much."""
TREE_TIMEOUT_S = 1.0
"""How long a request waits for a tree that is being made."""
SLOW_TEXT_S = 5.0
"""How long a text is parsed in the thread only, after a key press that took too long to follow."""
REST_FACTOR = 2.0
"""An attempt whose text changed meanwhile is followed by a rest of this many times its own duration."""


class SyntaxService:
    """The means of parsing that all open documents of one client share: the budget, the process and the thread.

    Without an event loop there is nothing to keep responsive, and every text is parsed at once.

    Args:
        on_change: Called when a document loses its tree, or gets one again.
        budget: Limits of one parse.
        clock: Returns the present time in seconds.
        new_allowance: Creates the time limit of one parse, from seconds of processor time.
    """

    def __init__(
        self,
        on_change: Callable[[], None] = lambda: None,
        budget: ParseBudget = BUDGET,
        clock: Callable[[], float] = monotonic,
        new_allowance: Callable[[float], Allowance] = Allowance,
    ) -> None:
        self.on_change = on_change
        self.budget = budget
        self.clock = clock
        self.new_allowance = new_allowance
        self._process: Trials | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._allowance: Allowance | None = None
        self._closing: list[asyncio.Task[None]] = []

    async def parse(self, text: Document) -> "tuple[SyntaxTree | None, IncrementalDeclarations | None]":
        """Parse a text that may take long or crash the parser.

        A separate process parses the text first, because a crash there does not end this process. If that succeeds, a
        thread of this process parses the text again, because a tree cannot be passed between processes.

        Returns:
            The syntax tree, and the declarations in it, which can follow later edits. Both are None for a language
            without a grammar.

        Raises:
            ParseBudgetExceeded: The text cannot be parsed within the budget.
        """
        from lsp_harness.syntax.grammars import language_for
        from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
        from lsp_harness.syntax.tree import parse_within

        language = language_for(text.language, text.uri)
        if language is None:
            return None, None
        self._process = self._process or Trials()
        if reason := await self._process.refusal_reason(language.id, text.data):
            raise ParseBudgetExceeded(reason)
        self._thread = self._thread or ThreadPoolExecutor(1, "parser")
        # the process has measured the cost; here the thread may wait for the processor, and the text is read in pieces
        allowance = self._allowance = self.new_allowance(2 * self.budget.text_s)

        def make() -> "tuple[SyntaxTree | None, IncrementalDeclarations | None]":
            tree = parse_within(text, allowance)
            return tree, IncrementalDeclarations(tree) if tree else None

        return await asyncio.get_running_loop().run_in_executor(self._thread, make)

    def cancel(self, task: "asyncio.Task[None]") -> None:
        """Cancel a parse; `aclose` waits for its end."""
        task.cancel()
        self._closing = [closing_task for closing_task in self._closing if not closing_task.done()]
        self._closing.append(task)

    async def aclose(self) -> None:
        """Stop the parses under way, the process and the thread."""
        if self._allowance:
            self._allowance.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        if self._process:
            await self._process.aclose()
        if self._thread:
            self._thread.shutdown(wait=False, cancel_futures=True)


class DocumentSyntax:
    """The tree and the declarations of one open document, and the attempts to make them.

    Attributes:
        missing_reason: Why the document has no tree although its language has a grammar. Empty if it has one.
    """

    def __init__(self, service: SyntaxService) -> None:
        self._service = service
        self._tree: SyntaxTree | None = None
        self._declarations: IncrementalDeclarations | None = None
        self._is_plain = False
        """Whether the text is ordinary code, which may be parsed at once."""
        self.missing_reason = ""
        self._failed_size = 0
        """Size in bytes of the text that could not be parsed."""
        self._failures = 0
        """Failed attempts since the tree followed an edit the last time."""
        self._paused_until = 0.0
        """No attempt is made before this time of the clock."""
        self._edits = 0
        self._slow_until = 0.0
        """Until this time of the clock the text is parsed in the thread only."""
        self._task: asyncio.Task[None] | None = None

    # -- following the text
    def follow(self, before: Document, edit: Edit, after: Document) -> None:
        """Update the tree after one edit. Call it for each edit, in order."""
        self._edits += 1
        if self._is_plain and len(edit.new) > 1:
            self._is_plain = is_plain_text(after.data, edit.start, edit.start + len(edit.new))
        if tree := self._tree:
            self._tree = None
            if self._is_plain or not _find_loop():
                self._follow(tree, before, edit, after)
        if self._tree is None:
            self._declarations = None
        elif self._declarations:
            self._declarations.record_edit(before, edit, after)

    def _follow(self, tree: "SyntaxTree", before: Document, edit: Edit, after: Document) -> None:
        """Parse again only what the edit changed."""
        service = self._service
        allowance = service.new_allowance(service.budget.keystroke_s)
        start_s = allowance.clock()
        try:
            self._tree = tree.update_within(before, edit, after, allowance)
        except ParseBudgetExceeded:
            # a quotation mark may change all of the text; the tree is made again in the thread
            self._slow_until = service.clock() + SLOW_TEXT_S
            return
        if (seconds := allowance.clock() - start_s) > service.budget.edit_s:
            self._refuse(after, f"to follow a key takes {seconds * 1000:.0f} ms")
        else:
            self._failures = 0

    def close(self) -> None:
        """Stop the parse under way. The document is closed, or is another text now."""
        if self._task:
            self._service.cancel(self._task)
        if self.missing_reason:
            self._set_reason("")

    # -- asking
    def tree(self, text: Document, *, is_current: bool = True) -> "SyntaxTree | None":
        """Return the tree of a text if there is one at once.

        Args:
            text: A version of the document.
            is_current: Whether it is the present version. Only its tree is kept.
        """
        from lsp_harness.syntax.grammars import language_for
        from lsp_harness.syntax.tree import parse_within

        service = self._service
        if self._tree and self._tree.document.data == text.data:
            return self._tree
        if text.is_binary or language_for(text.language, text.uri) is None:
            return None
        if is_current and service.clock() < self._paused_until and 2 * len(text.data) > self._failed_size:
            return None
        is_plain = self._is_plain = self._is_plain or is_plain_text(text.data)
        if _find_loop() and (self._task or not is_plain or self.missing_reason or service.clock() < self._slow_until):
            return self._begin(text) if is_current else None
        try:
            tree = parse_within(
                text, service.new_allowance(service.budget.keystroke_s if _find_loop() else service.budget.text_s)
            )
        except ParseBudgetExceeded as error:
            if is_current and _find_loop():
                return self._begin(text)
            if is_current:
                self._refuse(text, str(error))
            return None
        if is_current:
            self._set_tree(tree)
        return tree

    async def tree_when_ready(self, text: Document, *, is_current: bool = True) -> "SyntaxTree | None":
        """Return the tree of a text, and wait at most `TREE_TIMEOUT_S` if it is being made.

        Raises:
            RequestSuperseded: The text changed meanwhile.
        """
        tree = self.tree(text, is_current=is_current)
        if tree or not is_current or not self._task:
            return tree
        edits = self._edits
        await asyncio.wait({self._task}, timeout=TREE_TIMEOUT_S)
        if self._edits != edits:
            raise RequestSuperseded("the text was changed while its syntax tree was made")
        return self._tree if self._tree and self._tree.document.data == text.data else None

    def declarations(self, text: Document, *, is_current: bool = True) -> "Sequence[Declaration]":
        """Return the declarations of a text in their order, outer ones first. Empty if it has no tree."""
        from lsp_harness.syntax.symbols.declarations import find_declarations
        from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations

        tree = self.tree(text, is_current=is_current)
        if tree is None:
            return []
        if not is_current:
            return find_declarations(tree.language, tree.data, tree.root)[0]
        if self._declarations is None:
            self._declarations = IncrementalDeclarations(tree)
        return self._declarations.list_declarations(tree)

    # -- making
    def _begin(self, text: Document) -> None:
        """Start to make the tree of the present text, unless an attempt is under way."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._make(text))

    async def _make(self, text: Document) -> None:
        clock = self._service.clock
        start_s, edits = clock(), self._edits
        try:
            tree, declarations = await self._service.parse(text)
        except ParseBudgetExceeded as error:
            self._refuse(text, str(error))
            return
        except Exception:
            # After an error of this program the text has no tree, but requests are still answered.
            log.exception("parsing failed")
            self._refuse(text, "it cannot be parsed, see the log of the server")
            return
        finally:
            self._task = None
        if self._edits != edits:
            self._paused_until = clock() + REST_FACTOR * (clock() - start_s)
            return
        self._set_tree(tree)
        self._declarations = declarations

    def _set_tree(self, tree: "SyntaxTree | None") -> None:
        self._tree, self._declarations = tree, None
        self._set_reason("")

    def _refuse(self, text: Document, reason: str) -> None:
        pause = min(FIRST_PAUSE_S * 2**self._failures, MAX_PAUSE_S)
        self._failures, self._failed_size = self._failures + 1, len(text.data)
        self._paused_until = self._service.clock() + pause
        self._tree, self._declarations = None, None
        log.info("%s has no syntax tree: %s", text.uri, reason)
        self._set_reason(reason)

    def _set_reason(self, reason: str) -> None:
        if reason != self.missing_reason:
            self.missing_reason = reason
            self._service.on_change()


def _find_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
