"""Decisions before a model is asked: may it see this file, is a suggestion wanted here, and how long to wait."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from lsp_harness.completion.policy.trigger_rules import Situation, find_rule
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.files.secrets import secret_lines
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.edit_history import EditHistory

WAIT_SHARE = 0.25
"""Share of the latency that the user accepts which may be spent on waiting for the next key."""


@dataclass(slots=True)
class TriggerPolicy:
    """The decision whether a suggestion is wanted at a cursor, by the trigger rules.

    Attributes:
        settings: The rules that the user switched on.
        private_reason: Returns why no model may see a file, from its URI and path. Empty if a model may see it.
        sleep: Waits for a number of seconds.
    """

    settings: Quiet = field(default_factory=Quiet)
    private_reason: Callable[[str, str], str] = field(default_factory=lambda: PrivateFiles().reason)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def allows(self, cursor: Cursor) -> bool:
        """Return whether a model may be asked about this place at all."""
        return not self.find_refusal(cursor)

    def find_refusal(self, cursor: Cursor) -> str:
        """Return why no model may be asked about this place. Empty if one may."""
        document = cursor.document
        if document.is_binary:
            return "the file is binary"
        if len(document.data) > MAX_TEXT_BYTES:
            return f"the file is larger than {MAX_TEXT_BYTES:,} bytes"
        if reason := self.private_reason(document.uri, cursor.path):
            return f"no model may see this file: {reason}"
        if document.line_of(cursor.offset) in secret_lines(document):
            return "the line contains what looks like a secret"
        return ""

    def find_rule(self, cursor: Cursor, history: EditHistory, *, is_displayed: bool = False) -> str:
        """Return the name of the rule that forbids a suggestion at a cursor, or an empty text."""
        return find_rule(Situation(cursor, history), self.settings, is_displayed=is_displayed)

    def delay_s(self, history: EditHistory, settings: Completion, *, has_missed: bool) -> float:
        """Return how many seconds after a key the model is asked.

        A user whose keys agree with the model's answer does not wait, because that answer continues while they type. A
        user who typed something else will probably type on.

        Args:
            history: The history of the document.
            settings: The settings of completion.
            has_missed: Whether the user typed something else than the last answer in flight.
        """
        if self.settings.debounce_ms >= 0:
            return self.settings.debounce_ms / 1000
        return history.rhythm.wait_s(WAIT_SHARE * settings.latency_ms / 1000) if has_missed else 0.0

    async def wait(self, cursor: Cursor, history: EditHistory, settings: Completion, *, has_missed: bool) -> bool:
        """Wait until the user has not typed for `delay_s`. There is no wait if they did not type at all.

        Returns:
            False if the text changed meanwhile. The request for the new text may come a while later, because editors
            wait, too; an answer for the old text would be shown to nobody.
        """
        has_waited = False
        while last_change := history.last_change:
            remaining_s = (
                last_change.time_s + self.delay_s(history, settings, has_missed=has_missed) - history.rhythm.clock()
            )
            if remaining_s <= 0:
                return not has_waited or last_change.version == cursor.document.version
            has_waited = True
            await self.sleep(remaining_s)
        return True
