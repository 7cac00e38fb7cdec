"""A harness over a folder, with a script for an engine."""

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from lsp_harness.config.schema import Config
from lsp_harness.harness.events import FindingsChanged, HarnessEvent, IndexReported, StateChanged
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.indexes.folder_index import IndexMessage
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.kernel.results import FixOffer
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.workspace.workspace import Workspace
from tests.harness.tools import Script, make_settings
from tests.support import markup

# the harness would import it in a thread, and a test would have to wait for that
import_module("lsp_harness.completion.completer")
QUICK = make_settings(verification={"debounce_ms": 0})
AREA = """
    def area(r):
        width = r
        return 3 * widht ** 2
        #          ^^^^^ F821 what is this
    """
GOOD = "return 3 * width ** 2"


class Bench:
    """A harness over a folder, with a script for an engine and all that was published."""

    def __init__(
        self,
        folder: Path,
        verifier: Verifier,
        config: Config,
        replies: Sequence[Any],
        *,
        is_trusted: bool = True,
        **options: Any,
    ) -> None:
        self.folder = folder
        self.engine = Script(*replies)
        workspace = Workspace([folder], is_trusted=is_trusted)
        self.harness = Harness(config, lambda config: self.engine, workspace, verifier=verifier, **options)
        self.harness.events.subscribe(self._record_event)
        self.published: list[tuple[int, list[tuple[str, int]]]] = []
        """Version, and code and line of each finding."""
        self.stale: list[int] = []
        """Versions that were not current any more when something was published about them."""
        self._more = asyncio.Event()

    def open(self, text: str, name: str = "a.py", version: int = 1) -> markup.Source:
        src = markup.parse(text, self.folder / name, version=version)
        self.harness.open(src.document)
        return src

    def type(self, src: markup.Source, text: str, at: int) -> int:
        """Insert at an offset; the cursor after it."""
        uri = src.document.uri
        self.harness.change(uri, Edit(at, at, encode(text)), self.harness.documents.get(uri).text.version + 1)
        return at + len(encode(text))

    async def next(self) -> tuple[int, list[tuple[str, int]]]:
        """Wait for the next publication."""
        self._more.clear()
        await self._more.wait()
        return self.published[-1]

    def on_index(self, hear: Callable[[Path, IndexMessage], None]) -> None:
        """Call a function with what the process of an index says."""

        def listen(event: HarnessEvent) -> None:
            if isinstance(event, IndexReported):
                hear(event.root, event.message)

        self.harness.events.subscribe(listen)

    def on_state(self, hear: Callable[[], None]) -> None:
        """Call a function when the state may be another one."""

        def listen(event: HarnessEvent) -> None:
            if isinstance(event, StateChanged):
                hear()

        self.harness.events.subscribe(listen)

    def _record_event(self, event: HarnessEvent) -> None:
        if isinstance(event, FindingsChanged):
            self._published(event.uri, event.findings)

    def _published(self, uri: str, published: PublishedFindings) -> None:
        version, findings = published.version, published.findings
        document = self.harness.documents.get(uri).text if uri in self.harness.documents else None
        if document and document.version != version:
            # not an assertion: nobody would hear of it in a background task
            self.stale.append(version)
        text = document or Document.from_text(uri, "")
        self.published.append((version, [(f.code, text.line_of(f.start)) for f in findings]))
        self._more.set()


class BlockedRuff(Ruff):
    """A ruff that answers after `go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def check(self, *args: Any, **more: Any) -> Any:
        self.asked.set()
        await self.go.wait()
        return await super().check(*args, **more)


Make = Callable[..., Bench]


async def accept(bench: Bench, src: markup.Source) -> None:
    """Complete at the cursor, put the text in and say so, as an editor does."""
    uri = src.document.uri
    [suggestion] = await bench.harness.completions.complete(bench.harness.snapshot(uri), src.cursor)
    bench.type(src, suggestion.text, suggestion.start)
    bench.harness.record(uri, suggestion.id, "accepted")


async def propose_fix(b: Bench, src: markup.Source, offer: FixOffer | None = None) -> Any:
    """Return the proposal of the harness for the finding of `src`."""
    snapshot = b.harness.snapshot(src.document.uri)
    return await b.harness.fixes.fix(snapshot, offer or FixOffer("", "model", src.finding), lambda progress: None)
