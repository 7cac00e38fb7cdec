"""The connection to a command line agent of another maker in a terminal."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.connection import Observer
from lsp_harness.runtime.pty_connection import PtyConnection
from lsp_harness.runtime.pty_traits import BlindReader, PtyTraits, TerminalReader
from lsp_harness.runtime.states.screen_reader import ScreenReader, ScreenReading
from lsp_harness.runtime.states.screen_regions import ScreenView

ReadVersion = Callable[[], Awaitable[str]]


class CliTerminal(PtyConnection):
    """A connection that reads the screens by the rules for the installed version.

    Args:
        order: The order to start the agent.
        traits: The keys of its kind.
        observe: Receives the observations.
        read_version: Returns the version of the installed program.
    """

    def __init__(self, order: LaunchOrder, traits: PtyTraits, observe: Observer, read_version: ReadVersion) -> None:
        self._late_reader, self._read_version = _LateReader(), read_version
        super().__init__(order, replace(traits, create_reader=lambda: self._late_reader), observe)

    async def start(self) -> None:
        """Choose the rules for the installed version, and start the program."""
        self._late_reader.reader = ScreenReader(self._order.spec.type, await self._read_version())
        await super().start()


class _LateReader:
    """A reader that is known only when the program is about to start."""

    def __init__(self) -> None:
        self.reader: TerminalReader = BlindReader()

    def read(self, screen: ScreenView, find_login_url: Callable[[], str] = str) -> ScreenReading:
        """Read a screen."""
        return self.reader.read(screen, find_login_url)

    def forget(self) -> None:
        """Note that a message was sent."""
        self.reader.forget()

    def explain(self) -> list[dict[str, Any]]:
        """Return the rules that the last reading tried."""
        return self.reader.explain()
