"""An editor with two language servers, ours and ruff's, for measurements of fixes.

ruff reports the diagnostics, as in the editor of a user, and ours gets them with the requests for code actions.
"""

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from lsp_harness.cli.lsp_client import CAPABILITIES, INVOKED, LspClient
from lsp_harness.config import paths
from lsp_harness.errors import HarnessError
from lsp_harness.process.tool_run import find_tool
from lsp_harness.text.edit import common_prefix_and_suffix
from lsp_harness.text.position import decode, encode
from lsp_harness.wire.verdict_words import STATUS_MARKS

DIAGNOSTICS_LIMIT_S = 5.0
"""Time until ruff must have reported about a version."""
COMPLETION_LIMIT_S = 20.0
CHOSEN, ON_CURSOR = 1, 2
"""The values of `CodeActionTriggerKind`: the user opens the light bulb, or the cursor came to rest."""
LENS_REFRESH, SETTINGS_REQUEST = "workspace/codeLens/refresh", "workspace/configuration"
STATUS: dict[str, Any] = {"lspHarness": {"status": True}}
"""The capability of a client that reads the state of the server."""
WARM_UP = "def add(first, second):\n    return "
STATUS_OF_MARK = {mark: status for status, mark in STATUS_MARKS.items()}
Json = dict[str, Any]
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Fix:
    """The fix that a user chose.

    Attributes:
        kind: "model", or "repair" for one that needed no model (ruff's own included), or "none".
        is_ready: Whether the action already had its edit when the light bulb opened.
        wait_ms: The time from the choice to the edit.
        checks: Name of a check → its status.
        edit: The edit, or None.
        command: The command that reports that the edit was applied.
        reason: Why there is no edit.
        is_late: Whether the edit was not there in time.
    """

    kind: str = "none"
    is_ready: bool = False
    wait_ms: float = 0.0
    checks: dict[str, str] = field(default_factory=dict[str, str])
    edit: Json | None = None
    command: Json | None = None
    reason: str = ""
    is_late: bool = False


def make_environment(home: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a server with files and an engine of its own, which knows nothing of earlier runs.

    Args:
        home: A folder with a short path, because it will contain sockets.
        settings: Name of an environment variable of a setting, without its prefix → the value.
    """
    (home / "cache").mkdir(parents=True, mode=0o700)
    for name in ("machine.json", "probe.json"):
        if (paths.cache_folder() / name).exists():
            shutil.copy(paths.cache_folder() / name, home / "cache")
    models = os.environ.get("LSP_HARNESS_MODELS", str(paths.cache_folder() / "models"))
    env = dict(os.environ, LSP_HARNESS_HOME=str(home), LSP_HARNESS_MODELS=models)
    # a fix that was accepted once would answer the next task of its kind without the model
    env |= {"LSP_HARNESS_KNOWLEDGE__ERROR_CACHE": "false", "LSP_HARNESS_ENGINE__KV_DISK_MB": "0"}
    env |= {"LSP_HARNESS_ENGINE__IDLE_SECONDS": "20"}
    return env | {f"LSP_HARNESS_{name}": value for name, value in settings.items()}


def create_capabilities() -> Json:
    """Return the capabilities of an editor that also shows lenses and the annotations of edits."""
    declared = deepcopy(CAPABILITIES)
    declared["workspace"] |= {"applyEdit": True, "codeLens": {"refreshSupport": True}}
    declared["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = {}
    declared["textDocument"]["codeLens"] = {}
    declared["textDocument"]["publishDiagnostics"]["relatedInformation"] = True
    return declared


def read_marks(label: str) -> dict[str, str]:
    """Return name of a check → its status, from the label of an edit such as "lsp-harness: parse ✓, kept ✗"."""
    marks = [part.rsplit(" ", 1) for part in label.removeprefix("lsp-harness: ").split(", ")]
    return {mark[0]: STATUS_OF_MARK[mark[1]] for mark in marks if len(mark) == 2 and mark[1] in STATUS_OF_MARK}


def order_fixes(actions: Sequence[Json]) -> list[Json]:
    """Return the actions that are fixes, in the order in which a user tries them: the ready ones first."""
    fixes = [action for action in actions if "finding" in (action.get("data") or {})]
    return sorted(fixes, key=lambda action: not action.get("edit"))


def describe_fix(action: Json, *, is_ready: bool, wait_ms: float) -> Fix:
    """Return the fix of an action that has its edit."""
    annotations = list((action["edit"].get("changeAnnotations") or {}).values())
    return Fix(
        # the default of `edits.confirm`
        "model" if any(annotation.get("needsConfirmation") for annotation in annotations) else "repair",
        is_ready,
        round(wait_ms, 1),
        read_marks(annotations[0]["label"]) if annotations else {},
        action["edit"],
        action.get("command"),
    )


class LintedEditor:
    """One editor.

    Args:
        ours: The connection to our server.
        ruff: The connection to `ruff server`.
    """

    def __init__(self, ours: LspClient, ruff: LspClient) -> None:
        self.ours = ours
        self._ruff = ruff
        self._news = asyncio.Event()
        self._reports: dict[str, tuple[int, list[Json]]] = {}
        self._counts: Counter[str] = Counter()
        ours.on_message = self._handle_ours
        ruff.on_message = self._handle_ruff

    @classmethod
    @asynccontextmanager
    async def start(cls, root: Path, env: dict[str, str]) -> AsyncGenerator["LintedEditor"]:
        """Start both servers for a workspace folder."""
        ruff = find_tool("ruff")
        if ruff is None:
            raise HarnessError("ruff is not installed (pip install ruff)")
        async with (
            LspClient.start(root, env=env, capabilities=create_capabilities(), experimental=STATUS) as ours,
            LspClient.start(root, ruff, "server", env=env, capabilities=create_capabilities()) as linter,
        ):
            yield cls(ours, linter)

    # -- documents
    def open(self, file: Path, text: str) -> str:
        """Write a file and open it. Return its URI."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self._ruff.open(file, text, "python")
        return self.ours.open(file, text, "python")

    def text(self, uri: str) -> str:
        """Return the present text."""
        return decode(self.ours.text(uri).data)

    def change(self, uri: str, text: str) -> None:
        """Change a document to a text by one edit of what differs."""
        before, after = self.ours.text(uri).data, encode(text)
        start, same = common_prefix_and_suffix(before, after)
        document = self.ours.text(uri)
        span = {"start": document.position(start, "utf-16"), "end": document.position(len(before) - same, "utf-16")}
        places = {side: {"line": place.line, "character": place.character} for side, place in span.items()}
        for client in (self.ours, self._ruff):
            client.edit(uri, places, decode(after[start : len(after) - same]))

    def rest_cursor(self, uri: str, before: str) -> None:
        """Report that the cursor rests after a text."""
        self.ours.notify("lspHarness/didMoveCursor", self.ours.place_after(uri, before))

    def save(self, uri: str, file: Path) -> None:
        """Write the present text to its file."""
        file.write_text(self.text(uri), encoding="utf-8")
        # ruff lints texts, and does not want to know of saves
        self.ours.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        """Close a document."""
        self._reports.pop(uri, None)
        self.ours.close(uri)
        self._ruff.close(uri)

    # -- requests
    async def warm_up(self, root: Path) -> None:
        """Start the engine."""
        uri = self.open(root / "start.py", WARM_UP)
        await self.ours.inline_completion(uri, WARM_UP, trigger=INVOKED)
        self.close(uri)
        (root / "start.py").unlink()

    async def complete(self, uri: str, before: str) -> float:
        """Request what an editor requests after a key, and return the milliseconds until the answer."""
        start_s = perf_counter()
        async with asyncio.timeout(COMPLETION_LIMIT_S):
            await self.ours.inline_completion(uri, before)
        return round(1000 * (perf_counter() - start_s), 1)

    async def diagnostics(self, uri: str, limit_s: float = DIAGNOSTICS_LIMIT_S) -> list[Json] | None:
        """Return the diagnostics of ruff for the present version, or None if they do not come in time."""

        def find() -> list[Json] | None:
            version, diagnostics = self._reports.get(uri, (-1, []))
            return diagnostics if version == self.ours.text(uri).version else None

        try:
            async with asyncio.timeout(limit_s):
                return await self._wait(find)
        except TimeoutError:
            return None

    async def request_actions(self, uri: str, diagnostics: list[Json], trigger: int) -> list[Json]:
        """Return the actions for diagnostics, with the cursor at the first one."""
        place = diagnostics[0]["range"]["start"]
        context = {"diagnostics": diagnostics, "only": ["quickfix"], "triggerKind": trigger}
        params = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": context}
        return await self.ours.request("textDocument/codeAction", params) or []

    async def choose_fix(self, actions: Sequence[Json], limit_s: float) -> Fix:
        """Choose a fix as a user does, and wait for its edit. If there is none, choose the next fix."""
        fix = Fix(reason="no fix is offered")
        start_s = perf_counter()
        for action in order_fixes(actions):
            if action.get("edit"):
                return describe_fix(action, is_ready=True, wait_ms=0.0)
            fix = replace(await self._resolve(action, limit_s), wait_ms=round(1000 * (perf_counter() - start_s), 1))
            if fix.edit or fix.is_late:
                return fix
        return fix

    async def _resolve(self, action: Json, limit_s: float) -> Fix:
        number, answer = self.ours.begin("codeAction/resolve", action)
        try:
            async with asyncio.timeout(limit_s):
                return describe_fix(await answer, is_ready=False, wait_ms=0.0)
        except TimeoutError:
            self.ours.notify("$/cancelRequest", {"id": number})
            return Fix(reason=f"no answer in {limit_s:g} s", is_late=True)
        except HarnessError as error:
            return Fix(reason=error.message)

    async def apply(self, uri: str, fix: Fix) -> None:
        """Apply a fix, and report it."""
        if fix.edit is not None:
            self.change(uri, self.ours.apply_edit(fix.edit))
            await self.ours.run(fix.command)

    async def wait_for_verdict(self, uri: str) -> str:
        """Return the title of the lens with the final verdict about the present version."""
        while True:
            count = self._counts[LENS_REFRESH]
            lenses: list[Json] = await self.ours.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) or []
            if lenses:
                return str(lenses[0]["command"]["title"])
            await self._wait_for_message(LENS_REFRESH, count)

    async def wait_for_index(self, limit_s: float) -> None:
        """Wait until the index of the folder is ready. Raises TimeoutError."""
        async with asyncio.timeout(limit_s):
            await self._wait(lambda: self.ours.last_state("index") in ("ready", "polling") or None)

    async def configure(self, settings: Json) -> None:
        """Change the settings of the editor, and wait until the server has read them."""
        self.ours.settings, count = settings, self._counts[SETTINGS_REQUEST]
        self.ours.notify("workspace/didChangeConfiguration", {"settings": None})
        await self._wait_for_message(SETTINGS_REQUEST, count)

    async def read_statistics(self) -> dict[str, int]:
        """Return the counts of prepared fixes."""
        totals: Json = await self.ours.run({"command": "lspHarness.statistics"})
        return {name: count for name, count in totals.items() if name.startswith("fix")}

    # -- messages
    async def _wait_for_message(self, method: str, count: int) -> None:
        """Wait until our server has sent more messages of a kind than this."""
        await self._wait(lambda: self._counts[method] > count or None)

    async def _wait(self, find: Callable[[], ValueT | None]) -> ValueT:
        while (value := find()) is None:
            self._news.clear()
            await self._news.wait()
        return value

    def _handle_ours(self, message: Json) -> None:
        self._counts[message["method"]] += 1
        self._news.set()

    def _handle_ruff(self, message: Json) -> None:
        if message["method"] == "textDocument/publishDiagnostics":
            params = message["params"]
            self._reports[params["uri"]] = (params.get("version") or -1, params["diagnostics"])
            self._news.set()
