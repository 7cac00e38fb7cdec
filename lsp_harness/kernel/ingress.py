"""A request as it enters a session."""

from dataclasses import dataclass

from lsp_harness.events.session_events import AutoInvocation, InvocationReceived


@dataclass(frozen=True, slots=True)
class Ingress:
    """A prompt or message that a user or a program sends to a session.

    Attributes:
        kind: The kind of the request (see `InvocationReceived`).
        text: The request in words.
        path: The path of the document in its workspace.
        source: The surface, or the tool that reported a finding.
        request_id: The id that the client gave the request.
        is_saved: Whether the events of the turn may be written to disk.
        task_id: The task whose end causes the turn, for a turn without a user.
        item_id: The queued text that this request is.
    """

    kind: str
    text: str
    path: str = ""
    source: str | None = None
    request_id: str | None = None
    is_saved: bool = True
    task_id: str = ""
    item_id: str | None = None

    @property
    def event(self) -> InvocationReceived | AutoInvocation:
        """The event that begins the turn."""
        if self.task_id:
            return AutoInvocation(self.task_id, self.text)
        return InvocationReceived(self.kind, self.text, self.path, self.source, self.request_id, self.item_id)
