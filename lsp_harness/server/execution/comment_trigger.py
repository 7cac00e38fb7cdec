"""Edits that a comment with `ai!` starts when its file is saved."""

from lsp_harness.errors import DocumentNotOpen, HarnessError
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.edit_application import apply_edit, check_apply_edit
from lsp_harness.server.execution.quick_fix import prepare_written_edit
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

TITLE = "Do what the comment says"


class CommentEdits:
    """A part of an open document: whether an edit for one of its comments is being made."""

    def __init__(self) -> None:
        self.is_running = False

    def close(self) -> None:
        """Do nothing: the edit ends by itself, because its text is no longer there."""


def start(client: EditorClient, uri: str) -> None:
    """Begin the edit that the first comment with `ai!` asks for, unless one is being made for this document."""
    opened = client.harness.documents.find(uri)
    try:
        snapshot = client.freeze(uri) if opened else None
    except DocumentNotOpen:
        return
    if opened is None or snapshot is None or client.harness.edits.comment_request(snapshot) is None:
        return
    part = opened.part(CommentEdits, CommentEdits)
    if not part.is_running:
        part.is_running = True
        client.spawn(_run(client, snapshot, part), "doing what a comment says")


async def _run(client: EditorClient, snapshot: Snapshot, part: CommentEdits) -> None:
    try:
        request = client.harness.edits.comment_request(snapshot)
        if request is None:
            return
        check_apply_edit(client)
        with show_progress(client, TITLE) as report:
            written = await client.harness.edits.follow_comment(snapshot, request.span, report)
        await apply_edit(client, snapshot.document.uri, await prepare_written_edit(client, written), TITLE)
    except HarnessError as error:
        client.show_warning(f"{snapshot.path}: {error.message}")
    finally:
        part.is_running = False
