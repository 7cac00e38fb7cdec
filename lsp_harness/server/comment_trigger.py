"""Edits that a comment with `ai!` starts when its file is saved.

For each document the last save counts. An edit that is being made for an earlier text could not be applied any more, so
it ends, and the edit of the present text begins. Editors that format save twice.
"""

import asyncio

from lsp_harness.errors import DocumentNotOpen, HarnessError, StaleDocument
from lsp_harness.server.client_edits import apply_edit, check_apply_edit, prepare_written_edit
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

TITLE = "Do what the comment says"


class CommentEdits:
    """A part of an open document: the edit that is being made for one of its comments.

    Attributes:
        snapshot: The text that the edit is about. None if no edit is being made.
        task: Makes the edit of a comment.
    """

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self.task: asyncio.Task[None] | None = None

    def close(self) -> None:
        """End the edit: its text is no longer there."""
        self.cancel()

    def cancel(self) -> None:
        """End the edit, if one is being made."""
        if self.task:
            self.task.cancel()
        self.snapshot = self.task = None


def start(client: EditorClient, uri: str) -> None:
    """Begin the edit that the first comment with `ai!` asks for, unless it is being made for this very text."""
    opened = client.harness.documents.find(uri)
    try:
        snapshot = client.freeze(uri) if opened else None
    except DocumentNotOpen:
        return
    if opened is None or snapshot is None:
        return
    part = opened.find_part(CommentEdits)
    if part and part.snapshot and part.snapshot.document.data == snapshot.document.data:
        return
    if part:
        part.cancel()
    if client.harness.edits.comment_request(snapshot) is None:
        return
    part = opened.part(CommentEdits, CommentEdits)
    part.snapshot = snapshot
    client.spawn(_run(client, snapshot, part), "doing what a comment says")


async def _run(client: EditorClient, snapshot: Snapshot, part: CommentEdits) -> None:
    part.task = asyncio.current_task()
    try:
        if part.snapshot is not snapshot:
            # a later save came first
            return
        request = client.harness.edits.comment_request(snapshot)
        if request is None:
            return
        check_apply_edit(client)
        with show_progress(client, TITLE) as report:
            written = await client.harness.edits.follow_comment(snapshot, request.span, report)
        await apply_edit(client, snapshot.document.uri, await prepare_written_edit(client, written), TITLE)
    except StaleDocument as error:
        # the text was changed after the save: the next save asks again
        client.warn(f"{snapshot.path}: {error.message}")
    except HarnessError as error:
        client.show_warning(f"{snapshot.path}: {error.message}")
    finally:
        if part.snapshot is snapshot:
            part.snapshot = part.task = None
