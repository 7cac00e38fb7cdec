"""Questions to the user as standard messages, for clients without a dialog of their own.

Some editors cut a long message without a word. Where the client can open a file, such a question can be seen whole.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_harness.config import paths
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import HarnessError
from lsp_harness.server.editor_client import EditorClient

SHOW_ALL = "Show all"
MAX_MESSAGE_CHARS = 900
"""VS Code cuts messages after 1,000 characters."""


async def choose_in_message(client: EditorClient, message: str, titles: list[str]) -> tuple[str, bool]:
    """Return the title that the user chooses, or an empty text, and whether the client could ask."""
    can_show = len(message) > MAX_MESSAGE_CHARS and client.capabilities.show_document
    actions = [types.MessageActionItem(title=title) for title in (*titles, *([SHOW_ALL] if can_show else []))]
    params = types.ShowMessageRequestParams(type=types.MessageType.Warning, message=message, actions=actions)
    file: Path | None = None
    try:
        while True:
            chosen = await client.server.window_show_message_request_async(params)
            if not (can_show and chosen and chosen.title == SHOW_ALL):
                return (chosen.title if chosen and chosen.title in titles else ""), True
            file = file or _write_private(message)
            if file is not None:
                # a file that is not shown is no answer: the question is asked again
                with suppress(JsonRpcException):
                    await client.server.window_show_document_async(types.ShowDocumentParams(uri=file.as_uri()))
    except JsonRpcException:
        return "", False
    finally:
        if file is not None:
            file.unlink(missing_ok=True)


def _write_private(text: str) -> Path | None:
    """Write a text to a new file that only this user can read. Return None if that is not possible."""
    try:
        descriptor, name = tempfile.mkstemp(prefix="question-", suffix=".txt", dir=paths.runtime_folder())
        with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(f"{text}\n")
        os.chmod(name, 0o400)
    except (HarnessError, OSError) as error:
        warn_once(f"a long question cannot be shown as a file: {error}")
        return None
    return Path(name)
