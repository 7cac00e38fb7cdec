"""What holds a completer back: what is kept from the model for good, the quiet gate, and the user's typing rhythm."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from lsp_harness.completion.policy.trigger_rules import Situation, silenced
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.edit_history import Typed

SHARE = 0.25
"""Of the time to the first text, what may be spent on waiting for the next key."""


@dataclass(slots=True)
class Restraint:
    """`kept` tells of a URI and a path why that file is kept from the model altogether, empty where it is not."""

    settings: Quiet = field(default_factory=Quiet)
    typed: Typed = field(default_factory=Typed)
    kept: Callable[[str, str], str] = field(default_factory=lambda: PrivateFiles().reason)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def silenced(self, cursor: Cursor, *, on_screen: bool = False) -> str:
        """The rule that says to be silent at a place; empty where none does (see `gate.silenced`)."""
        uri = cursor.document.uri
        at = Situation(
            cursor.document, cursor.tree, cursor.offset, cursor.path, self.typed.last(uri), self.typed.dismissed(uri)
        )
        return silenced(at, self.settings, on_screen=on_screen)

    def delay(self, settings: Completion, *, missed: bool) -> float:
        """Seconds after a key before the model is asked. Whose keys are what the model says do not wait: its answer goes on
        while they type. Who went another way (`missed`) mostly goes on to."""
        if self.settings.debounce_ms >= 0:
            return self.settings.debounce_ms / 1000
        return self.typed.rhythm.wait(SHARE * settings.latency_ms / 1000) if missed else 0.0

    async def pause(self, cursor: Cursor, settings: Completion, *, missed: bool) -> bool:
        """Wait until the user has not typed for that long; where they did not type at all, there is no wait.

        False when the text has changed meanwhile. The request for the new one may be a while in coming, as editors wait
        too; what the model said of the old one would be shown to nobody.
        """
        uri, waited = cursor.document.uri, False
        while last := self.typed.last(uri):
            left = last.at + self.delay(settings, missed=missed) - self.typed.clock()
            if left <= 0:
                return not waited or last.version == cursor.document.version
            waited = True
            await self.sleep(left)
        return True
