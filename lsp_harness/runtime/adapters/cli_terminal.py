"""The connection to a command line agent of another maker in a terminal."""

from collections.abc import Awaitable, Callable

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.connection import Observer
from lsp_harness.runtime.pty_connection import PtyConnection
from lsp_harness.runtime.pty_traits import PtyTraits
from lsp_harness.runtime.states.screen_reader import ScreenReader

ReadVersion = Callable[[], Awaitable[str]]


class CliTerminal(PtyConnection):
    """A connection that reads the screens by the rules for the installed version.

    Args:
        order: The order to start the agent.
        traits: The keys of its kind.
        observe: Receives each observation of the agent: a state, a message, a question, its end.
        read_version: Returns the version of the installed program.
    """

    def __init__(self, order: LaunchOrder, traits: PtyTraits, observe: Observer, read_version: ReadVersion) -> None:
        super().__init__(order, traits, observe)
        self._read_version = read_version

    async def start(self) -> None:
        """Choose the rules for the installed version, and start the program."""
        self._reader = ScreenReader(self._order.spec.type, await self._read_version())
        await super().start()
