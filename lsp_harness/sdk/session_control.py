"""Commands of an open session that are no prompts."""

from collections.abc import Mapping
from typing import Any, Literal, cast

from lsp_harness.sdk.frame_router import EventFeed, FrameRouter
from lsp_harness.sdk.harness_options import HarnessOptions, PermissionMode
from lsp_harness.sdk.permission_callback import read_answer
from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.wire.client_events import PermissionRequest


class SessionControl:
    """The commands of a session beside its prompts. All methods raise HarnessError if it is refused."""

    _router: FrameRouter | None = None

    def _open_router(self) -> FrameRouter:
        if not self._router or not self._router.is_ready:
            raise HarnessError("the client is not open; use `async with`", code="closed")
        return self._router

    async def _command(self, name: str, **fields: Any) -> Any:
        given = {key: value for key, value in fields.items() if value is not None}
        return await self._open_router().send_command(name, **given)

    async def _require_text(self, key: str, name: str, **fields: Any) -> str:
        result = await self._command(name, **fields)
        if not isinstance(result, Mapping) or key not in result:
            raise HarnessError(f"the session answered the command {name} without {key}", code="protocol")
        return str(cast("Mapping[str, Any]", result)[key])

    # -- the running turn and the next one
    async def interrupt(self) -> None:
        """Stop the running turn. The session stays open, and the turn ends with `TurnStop(reason="interrupted")`."""
        router = self._open_router()
        turn = router.running_turn
        try:
            await router.send_command("interrupt", **({"id": turn.prompt_id} if turn else {}))
        except HarnessError:
            # a turn that ended by itself meanwhile cannot be interrupted
            if router.error or (turn and turn is router.running_turn):
                raise

    async def steer(self, text: str) -> str:
        """Send a text into the running turn, and return its id. The model reads it at the next step."""
        return await self._require_text("item_id", "steer", text=text)

    async def follow_up(self, text: str) -> str:
        """Queue a text as the prompt of a turn after the running one, and return its id.

        `events` has the events of that turn.
        """
        return await self._require_text("item_id", "follow_up", text=text)

    async def edit_queued(self, item_id: str, text: str) -> None:
        """Replace a text of `steer` or `follow_up` that waits."""
        await self._command("edit_queued", item_id=item_id, text=text)

    async def remove_queued(self, item_id: str) -> None:
        """Withdraw a text of `steer` or `follow_up` that waits."""
        await self._command("remove_queued", item_id=item_id)

    # -- settings
    async def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode from now on."""
        HarnessOptions(permission_mode=mode)
        await self._command("set_permission_mode", mode=mode)

    async def set_model(self, name: str | None = None, *, provider: str | None = None) -> str:
        """Let another model answer from the next model call on, and return its name.

        The arguments are those of the options `model` and `provider`.
        """
        return await self._require_text("model", "set_model", model=name, provider=provider)

    async def answer_permission(
        self,
        request: PermissionRequest,
        decision: Literal["allow", "deny"],
        *,
        reason: str = "",
        updated_input: Mapping[str, Any] | None = None,
        remember: Literal["once", "session", "always"] = "once",
    ) -> None:
        """Answer a `PermissionRequest` that an iterator returned. It is for programs without `can_use_tool`."""
        answer = {"decision": decision, "reason": reason, "updated_input": updated_input, "remember": remember}
        await self._command("permission", request_id=request.request_id, **read_answer(answer))

    # -- what there is
    def events(self) -> EventFeed:
        """Return all events of the session from now on, also those of no prompt, such as the end of a task."""
        return self._open_router().subscribe()

    async def status(self) -> dict[str, Any]:
        """Return what the session reports about itself."""
        return await self._command("status")

    async def context_usage(self) -> dict[str, Any]:
        """Return the size of the present prompt: `tokens`, `sections`, `window`, `budget` and `model`."""
        return await self._command("context_usage")

    async def mcp_status(self) -> list[dict[str, Any]]:
        """Return the `name`, `status`, `reason` and `tools` of each MCP server.

        The status is "running", "failed" or "disabled".
        """
        return await self._command("mcp_status")

    async def read_artifact(self, artifact_id: str) -> str:
        """Return the whole output that a `ToolEnd` with this `artifact_id` has only the beginning of."""
        texts = list[str]()
        offset, size = 0, 1
        while offset < size:
            part = await self._command("read_artifact", artifact_id=artifact_id, since=offset)
            texts.append(part["text"])
            # an artifact never changes, so no part is empty
            offset, size = part["cursor"], part["size"]
        return "".join(texts)

    # -- history
    async def undo(
        self,
        turn: int | None = None,
        *,
        force: bool = False,
        commands: bool = False,
        redo: bool = False,
        preview: bool = False,
    ) -> dict[str, Any]:
        """Undo the edits of a turn, or of the last one that changed files.

        Args:
            turn: The number of the turn.
            force: Restore files that somebody changed after the turn, too.
            commands: Restore files that changed while commands of the turn ran, too. Others may have written them.
            redo: Take the last undo back instead.
            preview: Change nothing, and return what would happen.

        Returns:
            `turn`, `paths`, those of them that are `removed`, `skipped` (path → why it is not restored), `commands`
            (those that changed while a command ran) and `texts` (path → the files with the texts before and after).
        """
        given = {"force": force, "commands": commands, "redo": redo, "preview": preview}
        # the program itself asks for it
        return await self._command("undo", turn=turn, confirmed=True, **{k: v for k, v in given.items() if v})

    async def fork(self, at_seq: int | None = None) -> str:
        """Begin a session that continues this one after an event, or after the last. Return its id, for `resume`."""
        return await self._require_text("session_id", "fork", at_seq=at_seq)

    # -- tasks
    async def tasks(self) -> list[dict[str, Any]]:
        """Return the `task_id`, `kind`, `title`, `status` and `summary` of each task."""
        return await self._command("tasks")

    async def read_task(self, task_id: str, since: int = 0) -> dict[str, Any]:
        """Return the output of a task from a byte on: `text`, `cursor` for the next call, and `is_running`."""
        return await self._command("read_task", task_id=task_id, since=since)

    async def cancel_task(self, task_id: str) -> dict[str, Any]:
        """End a task and all its processes. Return its `task_id` and `status`."""
        return await self._command("cancel_task", task_id=task_id)
