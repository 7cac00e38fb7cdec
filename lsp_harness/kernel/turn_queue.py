"""The subjects of the next step and the next turn of a session: queued texts, and ends of background tasks."""

from lsp_harness.errors import UsageError
from lsp_harness.events.session_events import QueueAdded, QueueEdited, QueueKind, QueueRemoved, QueueTaken
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import QueueItem
from lsp_harness.text.ulid import make_ulid


class TurnQueue:
    """The texts that wait, which the log keeps, and the ends of tasks that no step has seen yet.

    Args:
        log: The log of the session.
    """

    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self._claimed: set[str] = set()
        self._task_ends: dict[str, str] = {}

    @property
    def has_steering(self) -> bool:
        """Return whether a text waits for the next step."""
        return any(item.kind == "steer" for item in self._list_items())

    def add(self, kind: QueueKind, text: str) -> str:
        """Keep a text, and return its id."""
        item_id = make_ulid()
        self._log.append(QueueAdded(item_id, kind, text))
        return item_id

    def edit(self, item_id: str, text: str) -> None:
        """Replace a text that waits. Raise UsageError if it has taken effect already."""
        self._require(item_id)
        self._log.append(QueueEdited(item_id, text))

    def remove(self, item_id: str) -> None:
        """Withdraw a text that waits. Raise UsageError if it has taken effect already."""
        self._require(item_id)
        self._log.append(QueueRemoved(item_id))

    def take_steering(self, turn: Turn) -> None:
        """Make the texts that wait for the next step messages of a turn."""
        # the prompt of this step says how the tasks ended
        self._task_ends.clear()
        for item in self._list_items():
            if item.kind == "steer":
                turn.append(QueueTaken(item.item_id, item.text))

    def add_task_end(self, task_id: str, text: str) -> None:
        """Keep a text about a task that ended, until a step sees it."""
        self._task_ends[task_id] = text

    def forget_task_ends(self) -> None:
        """Drop the ends of tasks that no step has seen."""
        self._task_ends.clear()

    def take_next(self) -> Ingress | None:
        """Return what the next turn is about: the oldest text, or else the end of a task, or None.

        Steering that came too late for its turn is such a text, too.
        """
        if item := next(iter(self._list_items()), None):
            # the text leaves the queue with the event that begins the turn, so no crash can lose it in between
            self._claimed.add(item.item_id)
            return Ingress(item.kind, item.text, item_id=item.item_id)
        if self._task_ends:
            task_id = next(iter(self._task_ends))
            return Ingress("auto", self._task_ends.pop(task_id), task_id=task_id)
        return None

    def _list_items(self) -> list[QueueItem]:
        return [item for item in self._log.state.queue.values() if item.item_id not in self._claimed]

    def _require(self, item_id: str) -> None:
        if item_id not in self._log.state.queue:
            raise UsageError(f"there is no waiting text {item_id!r}; it has taken effect or was withdrawn")
