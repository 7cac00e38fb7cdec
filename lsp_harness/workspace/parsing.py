"""The syntax trees of the open documents, within a budget of time, kept up to date with every edit, and what they declare.

This is the only place that decides whether a text has a tree. What people write is parsed at once and followed key by key. A text
that takes longer is parsed in a thread, after a process of its own has tried it; one that costs more than the budget has no tree, and
says why, until it is tried again: not with each key, but after a pause that doubles.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from lsp_harness.errors import Superseded
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, Budget, ParseBudgetExceeded
from lsp_harness.syntax.plain_text import is_plain_text
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

if TYPE_CHECKING:
    from lsp_harness.syntax.symbols.declarations import Declaration
    from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
    from lsp_harness.syntax.tree import SyntaxTree
    from lsp_harness.workspace.parse_process import Trials

log = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 120.0
"""From one attempt to parse a text that costs too much to the next."""
WAIT_S = 1.0
"""How long a request waits for a tree that is being made."""
SLOW_S = 5.0
"""How long the keys of a text are followed in the thread after one that took too long."""
REST = 2.0
"""After an attempt that came too late for its text there is none for so many times as long as it took."""


@dataclass(slots=True)
class _Text:
    """The tree of one open document, and the attempts to make it."""

    tree: "SyntaxTree | None" = None
    declared: "IncrementalDeclarations | None" = None
    plain: bool = False
    """Whether it is what people write, and may be parsed at once."""
    why: str = ""
    """Why there is no tree."""
    size: int = 0
    """Bytes of the text that this was found out about."""
    pauses: int = 0
    """How often it was found out since a tree was last followed."""
    until: float = 0.0
    """Before which moment of the clock no attempt is made."""
    edits: int = 0
    """How often it was edited."""
    slow_until: float = 0.0
    """Until which moment of the clock keys are followed in the thread."""
    making: "asyncio.Task[None] | None" = None


class Parsed:
    """One per front end. `on_change` is called when `refused` may say something else. Without an event loop there is nothing to keep
    free, and everything is done at once."""

    def __init__(
        self,
        on_change: Callable[[], None] = lambda: None,
        budget: Budget = BUDGET,
        clock: Callable[[], float] = monotonic,
        allowance: Callable[[float], Allowance] = Allowance,
    ) -> None:
        self._budget = budget
        self._clock = clock
        self._allowance = allowance
        self._texts: dict[str, _Text] = {}
        self._trials: Trials | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._current: Allowance | None = None
        self.edited: dict[str, None] = {}
        """The documents that were edited since they are open."""
        self._on_change = on_change

    # -- following the text
    def changed(self, before: Document, edit: Edit, after: Document) -> None:
        """One edit of an open document; call in order."""
        self.edited[after.uri] = None
        text = self._texts.get(after.uri)
        if text is None:
            return
        text.edits += 1
        if text.plain and len(edit.new) > 1:
            text.plain = is_plain_text(after.data, edit.start, edit.start + len(edit.new))
        if tree := text.tree:
            text.tree = None
            if text.plain or not _loop():
                self._follow(text, tree, before, edit, after)
        if text.tree is None:
            text.declared = None
        elif text.declared:
            text.declared.record_edit(before, edit, after)

    def _follow(self, text: _Text, tree: "SyntaxTree", before: Document, edit: Edit, after: Document) -> None:
        """Parse again what an edit changed."""
        allowance = self._allowance(self._budget.keystroke_s)
        began = allowance.clock()
        try:
            text.tree = tree.update_within(before, edit, after, allowance)
        except ParseBudgetExceeded:
            # a quotation mark may change all of the text; the tree is made again in the thread
            text.slow_until = self._clock() + SLOW_S
            return
        if (seconds := allowance.clock() - began) > self._budget.edit_s:
            self._refuse(text, after, f"to follow a key takes {seconds * 1000:.0f} ms")
        else:
            text.pauses = 0

    def forget(self, uri: str) -> None:
        """The document is closed, or is another text now."""
        text = self._texts.pop(uri, None)
        if text and text.making:
            text.making.cancel()
        self.edited.pop(uri, None)
        if text and text.why:
            self._on_change()

    # -- asking
    def tree(self, document: Document, *, live: bool) -> "SyntaxTree | None":
        """The tree of a text as far as there is one at once. That of a `live` one, which is what is open, is kept."""
        from lsp_harness.syntax.languages import language_for
        from lsp_harness.syntax.tree import parse_within

        text = self._texts.get(document.uri) or _Text()
        if text.tree and text.tree.document.data == document.data:
            return text.tree
        if document.binary or language_for(document.language, document.uri) is None:
            return None
        if live:
            self._texts[document.uri] = text
            if self._clock() < text.until and 2 * len(document.data) > text.size:
                return None
        text.plain = text.plain or is_plain_text(document.data)
        if _loop() and (text.making or not text.plain or text.why or self._clock() < text.slow_until):
            return self._begin(text, document) if live else None
        try:
            tree = parse_within(document, self._allowance(self._budget.keystroke_s if _loop() else self._budget.text_s))
        except ParseBudgetExceeded as error:
            if live and _loop():
                return self._begin(text, document)
            if live:
                self._refuse(text, document, str(error))
            return None
        if live:
            self._found(text, tree)
        return tree

    async def made(self, document: Document, *, live: bool) -> "SyntaxTree | None":
        """As `tree`, but wait a while for one that is being made. Raises Superseded where the text is changed meanwhile."""
        tree = self.tree(document, live=live)
        text = self._texts.get(document.uri)
        if tree or not live or not text or not text.making:
            return tree
        edits = text.edits
        await asyncio.wait({text.making}, timeout=WAIT_S)
        if text.edits != edits:
            raise Superseded("the text was changed while its syntax tree was made")
        return text.tree if text.tree and text.tree.document.data == document.data else None

    def declarations(self, document: Document, *, live: bool) -> "Sequence[Declaration]":
        """List the declarations of a text in their order, outer ones first; empty if it has no tree."""
        from lsp_harness.syntax.symbols.declarations import find_declarations
        from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations

        tree = self.tree(document, live=live)
        if tree is None:
            return []
        if not live:
            return find_declarations(tree.language, tree.data, tree.root)[0]
        text = self._texts[document.uri]
        if text.declared is None:
            text.declared = IncrementalDeclarations(tree)
        return text.declared.list_declarations(tree)

    def why_not(self, uri: str) -> str:
        """Why an open document has no tree although its language has a grammar; empty where it has one, or nobody asked."""
        text = self._texts.get(uri)
        return text.why if text and not text.tree else ""

    def refused(self) -> list[dict[str, str]]:
        """The open documents that have no syntax tree although their language has a grammar: `uri` and `why` of each."""
        return [{"uri": uri, "why": why} for uri in [*self._texts] if (why := self.why_not(uri))]

    async def aclose(self) -> None:
        """End what is being made."""
        making = [text.making for text in self._texts.values() if text.making]
        for task in making:
            task.cancel()
        if self._current:
            self._current.cancel()
        await asyncio.gather(*making, return_exceptions=True)
        if self._trials:
            await self._trials.aclose()
        if self._thread:
            self._thread.shutdown(wait=False, cancel_futures=True)

    # -- making
    def _begin(self, text: _Text, document: Document) -> None:
        """Have the tree of what is open made; one attempt at a time for each text."""
        if text.making is None:
            text.making = asyncio.ensure_future(self._make(text, document))

    async def _make(self, text: _Text, document: Document) -> None:
        began, edits = self._clock(), text.edits
        try:
            tree, declarations = await self._tried(document)
        except ParseBudgetExceeded as error:
            self._refuse(text, document, str(error))
            return
        except Exception:
            # a fault of ours costs this text its tree, and no request its answer
            log.exception("parsing failed")
            self._refuse(text, document, "it cannot be parsed, see the log of the server")
            return
        finally:
            text.making = None
        if text.edits != edits:
            text.until = self._clock() + REST * (self._clock() - began)
            return
        self._found(text, tree)
        text.declared = declarations

    async def _tried(self, document: Document) -> "tuple[SyntaxTree | None, IncrementalDeclarations | None]":
        """The tree of a text that may be costly. Raises ParseBudgetExceeded."""
        from lsp_harness.syntax.languages import language_for
        from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
        from lsp_harness.syntax.tree import parse_within
        from lsp_harness.workspace.parse_process import Trials

        language = language_for(document.language, document.uri)
        if language is None:
            return None, None
        self._trials = self._trials or Trials()
        if why := await self._trials.why_not(language.id, document.data):
            raise ParseBudgetExceeded(why)
        self._thread = self._thread or ThreadPoolExecutor(1, "parser")
        # the process has measured it: here it may wait for the processor, and is read in pieces
        allowance = self._current = self._allowance(2 * self._budget.text_s)

        def make() -> "tuple[SyntaxTree | None, IncrementalDeclarations | None]":
            tree = parse_within(document, allowance)
            return tree, IncrementalDeclarations(tree) if tree else None

        return await asyncio.get_running_loop().run_in_executor(self._thread, make)

    def _found(self, text: _Text, tree: "SyntaxTree | None") -> None:
        text.tree, text.declared = tree, None
        if text.why:
            text.why = ""
            self._on_change()

    def _refuse(self, text: _Text, document: Document, why: str) -> None:
        pause = min(FIRST_PAUSE_S * 2**text.pauses, LONGEST_PAUSE_S)
        text.pauses, text.until, text.size = text.pauses + 1, self._clock() + pause, len(document.data)
        text.tree, text.declared = None, None
        log.info("%s has no syntax tree: %s", document.uri, why)
        if text.why != why:
            text.why = why
            self._on_change()


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
