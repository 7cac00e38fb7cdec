"""Statistics of suggestions: how many were displayed, and what became of them. They stay in a file of the user.

`completion.displayed_suggestions` follows the suggestions and reports here.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_harness.config import paths
from lsp_harness.disk.file_lock import FileLock
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError, FileMissing
from lsp_harness.harness.clock import call_later
from lsp_harness.text.document import Document

if TYPE_CHECKING:
    from lsp_harness.completion.displayed_suggestions import Fate
    from lsp_harness.completion.type_filter import TypeResult

LOCK_TIMEOUT_S = 1.0
"""How long another server may hold the file of the figures. It takes milliseconds."""
SURVIVAL_S = 30.0
"""An accepted text that still stands in the document after this time has survived."""


@dataclass(slots=True)
class Counts:
    """How many suggestions were displayed, and what became of them. Several suggestions at one place count as one.

    Attributes:
        shown: Suggestions that were displayed.
        accepted: Accepted to the end, at least one word of it at once.
        accepted_partly: A word or a line was accepted, then the user typed something else.
        typed_through: The user typed all of it, key by key.
        dismissed: The user removed it.
        survived: Accepted, in full or partly, and still in the document `SURVIVAL_S` later.
        types_passed: Suggestions that the type gate let pass.
        types_replaced: Suggestions in whose place another one was shown, because it objected.
        types_cut: Suggestions of which it left the first lines.
        types_hidden: Suggestions that it hid.
        types_skipped: Suggestions that it could not check.
        fixes_prepared: Fixes that were computed and verified before the user asked for them.
        fixes_used: Those that were applied.
        fixes_dropped: Those that an edit made void before.
        fixes_offered: Diagnostics for which the user saw fixes where fixes may be prepared.
        fixes_ready: Those of which a prepared fix was ready by then.
        fix_tokens: Tokens that the engine evaluated and generated for prepared fixes.
    """

    shown: int = 0
    accepted: int = 0
    accepted_partly: int = 0
    typed_through: int = 0
    dismissed: int = 0
    survived: int = 0
    types_passed: int = 0
    types_replaced: int = 0
    types_cut: int = 0
    types_hidden: int = 0
    types_skipped: int = 0
    fixes_prepared: int = 0
    fixes_used: int = 0
    fixes_dropped: int = 0
    fixes_offered: int = 0
    fixes_ready: int = 0
    fix_tokens: int = 0

    def plus(self, other: "Counts", sign: int = 1) -> "Counts":
        return Counts(*(getattr(self, f.name) + sign * getattr(other, f.name) for f in fields(Counts)))


class AcceptanceStats:
    """The statistics of one client.

    Args:
        find: Returns the present text of an open document, or None.
        call_later: Calls a function after a delay in seconds.
    """

    def __init__(
        self,
        find: Callable[[str], Document | None],
        call_later: Callable[[float, Callable[[], None]], None] = call_later,
    ) -> None:
        self.counts = Counts()
        self._find = find
        self._call_later = call_later
        self._flushed = Counts()

    def record_fate(self, fate: "Fate") -> None:
        """Count one suggestion that was displayed, or what became of it."""
        self.add(fate)

    def watch(self, uri: str, accepted_text: bytes) -> None:
        """Count an accepted text as survived if it is still in its document after `SURVIVAL_S`."""

        def look() -> None:
            text = self._find(uri)
            if text and accepted_text in text.data:
                self.add("survived")

        self._call_later(SURVIVAL_S, look)

    def record_types(self, result: "TypeResult") -> None:
        """Record what the type gate did with a suggestion."""
        self.add(f"types_{result}")

    def add(self, name: str, count: int = 1) -> None:
        """Add to one of the counts."""
        setattr(self.counts, name, getattr(self.counts, name) + count)

    # -- keeping
    def totals(self) -> dict[str, Any]:
        """Return the counts of suggestions in all runs, this one included, and the date of the first run."""
        self.flush()
        # The figures of this run count even if they could not be written.
        new = self.counts.plus(self._flushed, -1)
        saved_figures = _read()
        return saved_figures | {f.name: saved_figures[f.name] + getattr(new, f.name) for f in fields(Counts)}

    def flush(self) -> None:
        """Add the counts since the last call to the file, if the file can be written."""
        new = self.counts.plus(self._flushed, -1)
        if new == Counts():
            return
        file = _stats_file()
        try:
            with FileLock(file.with_suffix(".lock")).hold(LOCK_TIMEOUT_S):
                saved_figures = _read()
                total = Counts(**{f.name: saved_figures[f.name] for f in fields(Counts)}).plus(new)
                write_own_file(file, json.dumps({"since": saved_figures["since"], **asdict(total)}).encode())
        except OSError as error:
            paths.warn_not_saved("what became of suggestions", paths.STATE, file, error)
        else:
            self._flushed = self.counts.plus(Counts())


def _stats_file() -> Path:
    return paths.state_folder() / "statistics.json"


def _read() -> dict[str, Any]:
    """Return the counts of suggestions in the file. All are 0 if there is no file, or if the file cannot be read."""
    figures: dict[str, Any] = {"since": datetime.now(UTC).date().isoformat(), **asdict(Counts())}
    try:
        saved_figures = json.loads(read_text(_stats_file()))
        # an older version did not count everything; without the date it is another file
        known = {"since": saved_figures["since"], **saved_figures}
        return figures | {name: type(value)(known.get(name, value)) for name, value in figures.items()}
    except FileMissing:
        return figures
    except FileError as error:
        warn_once(f"{error.message}; the statistics begin again")
        return figures
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return figures
