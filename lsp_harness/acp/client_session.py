"""One session of a client of the Agent Client Protocol: its prompts as text, its updates and its questions."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from acp.helpers import update_agent_message_text
from acp.interfaces import Client
from acp.schema import (
    AllowedOutcome,
    EmbeddedResourceContentBlock,
    PermissionOption,
    PermissionOptionKind,
    ResourceContentBlock,
    StopReason,
    TextContentBlock,
    TextResourceContents,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)

from lsp_harness.acp.client_texts import ClientTexts
from lsp_harness.acp.session_updates import SessionUpdates, Update, call_title
from lsp_harness.errors import HarnessError, NoAnswer, StaleDocument, UsageError
from lsp_harness.events.session_events import TurnStopped
from lsp_harness.files.folders import resolve_links
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.files.secrets import redact
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.permission.person import TITLES, Choice, offered_choices
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_undo import UndoWish, describe_undo
from lsp_harness.text.surrogates import to_scalar_value
from lsp_harness.text.ulid import make_ulid
from lsp_harness.text.uri import local_path
from lsp_harness.text.wording import fence_code
from lsp_harness.wire.event import Event

STOP_REASONS: Mapping[str, StopReason] = {
    "interrupted": "cancelled",
    "cancelled": "cancelled",
    "max_turns": "max_turn_requests",
    "budget_exceeded": "max_tokens",
}
"""Reason of the end of a turn → that of the protocol. Others are `end_turn`."""
OPTION_KINDS: Mapping[Choice, PermissionOptionKind] = {
    "once": "allow_once",
    "session": "allow_always",
    "always": "allow_always",
    "reject": "reject_once",
}
"""Answer to a question → its kind in the protocol."""
UNDO = "/undo"
LOG = logging.getLogger(__name__)
UNDO_WISHES = {
    UNDO: UndoWish(),
    f"{UNDO} commands": UndoWish(with_commands=True),
    f"{UNDO} force": UndoWish(force=True),
    "/redo": UndoWish(is_redo=True),
}
"""Words that a user can write instead of a prompt → the undo that they ask for."""


class ClientSession:
    """A session that a client has open.

    Args:
        opened: The open session.
        client: The client.
        texts: The unsaved texts of the client.
    """

    def __init__(self, opened: OpenSession, client: Client, texts: ClientTexts) -> None:
        self.opened = opened
        self.updates = SessionUpdates(opened.options.root)
        self._client, self._texts = client, texts
        self._outgoing: asyncio.Queue[Update | Event] = asyncio.Queue()
        self._sending = asyncio.ensure_future(self._send_all())
        self._questions: set[asyncio.Task[None]] = set()
        self._preparing: set[asyncio.Task[None]] = set()
        self._remarks = [*opened.parts.warnings, *opened.parts.server_remarks]
        """Remarks for the user before the first turn, because editors do not show the standard error."""
        self._usage = [0, 0, 0]
        opened.session.log.listeners.append(self._follow)

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.opened.session.id

    async def prompt(self, blocks: list[Any]) -> tuple[StopReason, Usage]:
        """Run a turn, and return why it ended and what it cost.

        Raises:
            HarnessError: The turn failed for a reason that is not a part of the conversation.
        """
        opened, self._usage = self.opened, [0, 0, 0]
        prompt = read_prompt(blocks, opened.options.root, has_contents=opened.options.driver == "chat")
        self.updates.begin_turn()
        remarks, self._remarks = self._remarks, []
        # each is a paragraph of its own before the answer
        self.send(*(_make_text_update(f"{remark}\n\n") for remark in (*remarks, *prompt.left_out)))
        if (wish := UNDO_WISHES.get(prompt.text.strip())) is not None:
            return await self._undo(wish)
        if not prompt.text.strip():
            raise UsageError("the prompt has no text")
        if not await self._prepare(prompt.files):
            return "cancelled", self._count_usage()
        ingress = Ingress("message", prompt.text, source="acp", request_id=make_ulid())
        try:
            stopped = await opened.submit(ingress, opened.create_driver())
        except (NoAnswer, StaleDocument) as error:
            # the end of the conversation for now, and no fault of the agent
            stopped = TurnStopped(0, "error", error.message, error.message)
        finally:
            await self.flush()
        if not self.updates.has_text and (text := stopped.text or _explain(stopped)):
            self.send(_make_text_update(text))
            await self.flush()
        return STOP_REASONS.get(stopped.reason, "end_turn"), self._count_usage()

    async def _prepare(self, files: Iterable[Path]) -> bool:
        """Ask the editor for unsaved texts. Return False if the turn was stopped before it answered."""
        asking = asyncio.ensure_future(self._texts.refresh(self.id, files))
        self._preparing.add(asking)
        try:
            await asyncio.wait({asking})
        finally:
            self._preparing.discard(asking)
            asking.cancel()
        return not asking.cancelled()

    def cancel(self) -> None:
        """Stop the running turn."""
        for asking in self._preparing:
            asking.cancel()
        self.opened.session.requests.interrupt()

    def replay(self, events: Iterable[Event]) -> None:
        """Send the updates of the events of a saved session."""
        for event in events:
            self.send(*self.updates.replay(_to_scalar_event(event)))

    def send(self, *updates: Update) -> None:
        """Send updates to the client, after those that wait already."""
        for update in updates:
            self._outgoing.put_nowait(update)

    async def flush(self) -> None:
        """Wait until all updates are sent."""
        await self._outgoing.join()

    async def aclose(self) -> None:
        """Close the session, so that other processes can continue it."""
        for question in self._questions:
            question.cancel()
        await self.opened.aclose()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), 1)
        self._sending.cancel()

    # -- events
    def _follow(self, event: Event) -> None:
        event = _to_scalar_event(event)
        if event.type == "permission.requested":
            # after the updates that explain what is asked about
            self.send(*self.updates.announce_question(self._call_id(event.data), event.data))
            self._outgoing.put_nowait(event)
        else:
            if event.type == "model.completed":
                self._add_usage(event.data.get("usage") or {})
            self.send(*self.updates.convert(event))

    def _call_id(self, data: Mapping[str, Any]) -> str:
        return str(data.get("call_id") or self.updates.proposal or data.get("request_id"))

    async def _send_all(self) -> None:
        while True:
            item = await self._outgoing.get()
            try:
                if isinstance(item, Event):
                    task = asyncio.ensure_future(self._ask(item.data))
                    self._questions.add(task)
                    task.add_done_callback(self._questions.discard)
                else:
                    await self._client.session_update(session_id=self.id, update=item)
            except Exception as error:  # noqa: BLE001 - the updates after it, and the answer to the prompt, must come
                LOG.warning("an update was not sent: %s", " ".join(str(error).split())[:300])
            finally:
                self._outgoing.task_done()

    async def _ask(self, data: Mapping[str, Any]) -> None:
        choices = offered_choices(data.get("suggestions") or ())
        options = [
            PermissionOption(option_id=choice, name=TITLES[choice], kind=OPTION_KINDS[choice]) for choice in choices
        ]
        # an editor shows what the question itself has, and perhaps nothing of the call before it
        call = ToolCallUpdate(
            tool_call_id=self._call_id(data),
            title=call_title(str(data.get("tool")), data.get("input") or {}),
            status="pending",
            content=self.updates.question_content(data),
            raw_input=data.get("input"),
        )
        chosen = "reject"
        try:
            answer = await self._client.request_permission(session_id=self.id, tool_call=call, options=options)
            if isinstance(answer.outcome, AllowedOutcome) and answer.outcome.option_id in choices:
                chosen = answer.outcome.option_id
        except Exception as error:  # noqa: BLE001 - what is no answer counts as no, and the turn goes on
            LOG.info("a question was not answered: %s", " ".join(str(error).split())[:300])
        fields = {"decision": "deny" if chosen == "reject" else "allow", "remember": chosen}
        # the turn may have ended meanwhile
        with suppress(UsageError):
            self.opened.answer_question(str(data.get("request_id")), fields)

    # -- usage and undo
    def _add_usage(self, usage: Mapping[str, Any]) -> None:
        numbers = [int(usage.get(name) or 0) for name in ("input_tokens", "output_tokens", "cached_tokens")]
        self._usage = [before + number for before, number in zip(self._usage, numbers, strict=True)]
        used = numbers[0] + numbers[1]
        size = self.opened.options.context_tokens or self.opened.parts.config.model.context_length
        if used:
            self.send(UsageUpdate(session_update="usage_update", used=used, size=max(size, used)))

    def _count_usage(self) -> Usage:
        read, written, cached = self._usage
        return Usage(total_tokens=read + written, input_tokens=read, output_tokens=written, cached_read_tokens=cached)

    async def _undo(self, wish: UndoWish) -> tuple[StopReason, Usage]:
        try:
            result = await self.opened.undo(wish)
            text = "\n".join(describe_undo(result))
            if result.commands:
                text += f"\n{UNDO} commands takes back what changed while commands ran, too"
        except HarnessError as error:
            text = error.message
        self.send(_make_text_update(text))
        await self.flush()
        return "end_turn", self._count_usage()


def _to_scalar_event(event: Event) -> Event:
    # a file name that is no UTF-8 has halves of characters, which the protocol cannot express
    return replace(event, data=to_scalar_value(event.data))


def _make_text_update(text: str) -> Update:
    return update_agent_message_text(text)


def _explain(stopped: TurnStopped) -> str:
    return "" if stopped.reason in ("completed", "interrupted", "cancelled") else stopped.detail


MAX_RESOURCE_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt.

    Attributes:
        text: The text for the model.
        files: The files of the folder that the prompt names.
        left_out: What the model does not see, as sentences for the user.
    """

    text: str
    files: tuple[Path, ...]
    left_out: tuple[str, ...]


def read_prompt(blocks: Sequence[Any], root: Path, *, has_contents: bool) -> PromptText:
    """Return the text of the blocks of a prompt. No private file gets into it.

    Args:
        blocks: The content blocks of the prompt, as the protocol has them.
        root: The folder of the session.
        has_contents: Whether embedded texts are a part of the text. A driver that finds the code itself needs none.
    """
    private = PrivateFiles([root])
    texts: list[str] = []
    contents: list[str] = []
    files: list[Path] = []
    left_out: list[str] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                texts.append(block.text)
            case ResourceContentBlock(uri=uri) | EmbeddedResourceContentBlock(resource=TextResourceContents(uri=uri)):
                file = _file_in(root, uri)
                if file and (reason := private.reason(file.as_uri())):
                    left_out.append(f"{file.name} is left out: it is {reason}")
                    continue
                name = file.relative_to(resolve_links(root)).as_posix() if file else uri
                files += [file] if file else []
                texts.append(f"@{name}" if file else name)
                if has_contents and isinstance(block, EmbeddedResourceContentBlock):
                    contents.append("\n".join(["", "", f"{name}:", *_fence_resource(block.resource)]))
            case _:
                left_out.append(f"a part of the prompt of the kind {block.type!r} is left out: only texts can be read")
    return PromptText("".join(_join(texts)) + "".join(contents), tuple(files), tuple(left_out))


def _file_in(root: Path, uri: str) -> Path | None:
    """Return the file of a URI if it is in a folder, without links."""
    file = local_path(uri) if uri.startswith("file:") else None
    resolved = resolve_links(file) if file else None
    return resolved if resolved and resolved.is_relative_to(resolve_links(root)) else None


def _fence_resource(resource: Any) -> list[str]:
    text = redact(resource.text)
    return list(fence_code(text[:MAX_RESOURCE_CHARS], ""))


def _join(texts: Sequence[str]) -> list[str]:
    """Return the texts with a space between two that would be one word together."""
    joined: list[str] = []
    for text in texts:
        if joined and text and not joined[-1][-1:].isspace() and not text[:1].isspace():
            joined.append(" ")
        joined.append(text)
    return joined
