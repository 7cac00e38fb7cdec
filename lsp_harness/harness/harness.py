"""The façade: verbs in editor terms. It owns the open documents and hands frozen snapshots to the drivers.

What costs time to import is imported when first needed, because `initialize` must be answered at once."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, NoAnswer, NotText, UsageError
from lsp_harness.harness import diagnosis, verdict_document
from lsp_harness.harness.acceptance_stats import Uptake
from lsp_harness.harness.engines import Engines
from lsp_harness.harness.published_findings import Held, Published
from lsp_harness.harness.suggestion_pause import Pause, Scope
from lsp_harness.process.typing_activity import pressed
from lsp_harness.session.results import Offer, Proposal, Report, Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.documents import Documents
from lsp_harness.workspace.edit_history import Typed
from lsp_harness.workspace.parsing import Parsed
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.typed_text import before_cursor

if TYPE_CHECKING:
    from lsp_harness.coding.turn_context import Job
    from lsp_harness.completion.completer import Completer
    from lsp_harness.context.sources.recent_edits import RecentEdits
    from lsp_harness.context.sources.related_code import VectorSearch
    from lsp_harness.files.private_files import Kept
    from lsp_harness.harness.accepted_edits import Watch
    from lsp_harness.harness.engine_health import Observed
    from lsp_harness.harness.folder_index import Said
    from lsp_harness.harness.folder_indexes import Indexes
    from lsp_harness.harness.proposals import Proposals
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.inference.client import Engine
    from lsp_harness.knowledge.installed_packages import Installed
    from lsp_harness.session.log import SessionLog
    from lsp_harness.syntax.symbols.declarations import Declaration
    from lsp_harness.syntax.tree import SyntaxTree
    from lsp_harness.verify.digest.digest_result import Digest
    from lsp_harness.verify.ruff_linter import Ruff


class Harness:
    """One per front end process. `make_engine` is called with the first request that needs a model."""

    def __init__(self, config: Config, make_engine: "Callable[[Config], Engine]") -> None:
        self.config = config
        self.documents = Documents()
        self.roots: list[Path] = []
        self.eager = False
        """A front end that stays works ahead: it warms prompts and speculates on suggestions being accepted."""
        self.trusted = True
        """Whether the user trusts the workspace. Without that nothing of it is run, warmed or written to disk."""
        self.known: IndexQuery | None = None
        """An index that is read as it is, by a front end that does not stay, in place of those that are kept."""
        self.near: VectorSearch | None = None
        """What in it is most like a task, in place of what the engine says of those that are kept."""
        self.on_findings: Published = lambda uri, held: None
        self.on_indexing: Callable[[Path, Said], None] = lambda root, said: None
        """Called on the event loop with what the process says that keeps the index of a folder."""
        self.on_state: Callable[[], None] = lambda: None
        """Called on the event loop when `state` may say something else."""
        self.uptake = Uptake(self.documents.find)
        self.engines = Engines(make_engine, lambda: self.on_state())
        self._pause = Pause(lambda: self.on_state())
        self._completer: Completer | None = None
        self._watch: Watch | None = None
        self._ruff: Ruff | None = None
        self._log: SessionLog | None = None
        self._parsed = Parsed(lambda: self.on_state())
        self._typed = Typed()
        self._kept: Kept | None = None
        self._cursors: dict[str, int] = {}
        """Where the user was last seen in a document, also in one that is closed: they often come back to it."""
        self._proposals: Proposals | None = None
        self._indexes: Indexes | None = None
        self._recent: RecentEdits | None = None
        self._installed: Installed | None = None

    # -- text
    def open(self, document: Document) -> None:
        """Also a document that is open already: nothing that is known of its old text is true of the new one."""
        if document.uri in self.documents:
            self.close(document.uri)
        self.documents.open(document)
        if self._indexes:
            # what is imported here is wanted soon
            snapshot = self.snapshot_of(document)
            self._indexes.first(snapshot.root, snapshot.path)

    def change(self, uri: str, edit: Edit, version: int) -> None:
        """One edit; call in order. Raises NotOpen."""
        before, after = self.documents.change(uri, edit, version)
        pressed()
        if self._recent:
            grown = len(after.starts) - len(before.starts)
            self._recent.record_edit(uri, self.snapshot_of(after).path, before.line_of(edit.start), grown)
        self._typed.changed(before, edit, after)
        self._cursors[uri] = edit.start + before_cursor(edit.new)
        self._parsed.changed(before, edit, after)
        if self._completer:
            self._completer.changed(after, self._cursors[uri])
        if self.uptake.changed(uri, edit) and self._completer and (shown := self._completer.base(uri)):
            # not every client runs the command of what it put in
            self.watch.start(shown, self.snapshot(uri))
        if self._watch:
            self._watch.changed(uri)
        # not every client can run a command after it applied an edit: the text says so too
        for id in self._proposals.made(after) if self._proposals else ():
            self.applied(uri, id)

    def close(self, uri: str) -> None:
        document = self.documents.close(uri)
        if document and self._recent:
            self._recent.record_close(document)
        self._forget(uri)

    def lose(self, uri: str, why: str) -> bool:
        """The text of a document is not known any more: it is not used until the client sends all of it. Whether that is news."""
        self._forget(uri)
        return self.documents.lose(uri, why)

    def _forget(self, uri: str) -> None:
        """What is known of a text that is open no more."""
        self.uptake.closed(uri)
        self._parsed.forget(uri)
        self._typed.forget(uri)
        if self._completer:
            self._completer.forget(uri)
        if self._watch:
            self._watch.stop(uri)

    def snapshot(self, uri: str) -> Snapshot:
        """The document as it is now. Raises NotOpen."""
        return self.snapshot_of(self.documents.get(uri))

    def snapshot_of(self, document: Document) -> Snapshot:
        """Any text, and where it lies in the workspace."""
        return Snapshot.of(document, self.roots)

    def kept_from_model(self, snapshot: Snapshot) -> str:
        """Why no model may see this file, which the session's log on disk does not know either; empty where it may."""
        why = self.kept.why(snapshot.document.uri, snapshot.path)
        return f"{why}, so it is not sent to the model" if why else ""

    def _edited(self) -> list[Snapshot]:
        """The open texts that were edited, but for those that no model may see."""
        return [one for one in map(self.snapshot, self._parsed.edited) if not self.kept_from_model(one)]

    def current(self, document: Document) -> bool:
        """Whether this is still the text of its document."""
        return document.uri in self.documents and self.documents.get(document.uri) is document

    def tree(self, snapshot: Snapshot) -> "SyntaxTree | None":
        """The syntax tree of a snapshot as far as there is one at once, kept up to date with the open document."""
        return self._parsed.tree(snapshot.document, live=self.current(snapshot.document))

    async def parsed(self, snapshot: Snapshot) -> "SyntaxTree | None":
        """Return the syntax tree of a snapshot; wait a while if it is being made. Raises Superseded if the text changes meanwhile."""
        return await self._parsed.made(snapshot.document, live=self.current(snapshot.document))

    def declarations(self, snapshot: Snapshot) -> "Sequence[Declaration]":
        """What a snapshot declares, in the order of its text, outer ones first; nothing in a language we do not know."""
        return self._parsed.declarations(snapshot.document, live=self.current(snapshot.document))

    def configure(self, config: Config) -> None:
        """Live reload. Another model or engine takes effect with the next request."""
        engine_changed = self.engines.loads(config) != self.engines.loads(self.config)
        if config.knowledge != self.config.knowledge:
            self._installed = None
        self.config = config
        if engine_changed:
            self.engines.leave()
            if self._completer:
                self._completer.close()
            self._completer = None
        if self._completer:
            self._completer.configure(config.completion, config.quiet)
        if self._watch:
            self._watch.settings = config.verification
        if self._indexes:
            self.index()
        self.on_state()

    # -- completion
    async def complete(
        self, snapshot: Snapshot, offset: int, *, automatic: bool = True, one: bool = False
    ) -> list[Suggestion]:
        """Return at most one suggestion, or several if the user asked (not `automatic`). An earlier call for the document ends with Superseded."""
        if automatic and (not self.config.completion.enabled or self.paused):
            return []
        self._cursors[snapshot.document.uri] = offset
        try:
            place = (snapshot.document, await self.parsed(snapshot), offset, snapshot.path)
            if automatic or one:
                found = await self.completer.complete(*place, automatic=automatic, persist=self.persists(snapshot))
                suggestions = [found] if found else []
            else:
                suggestions = await self.completer.choices(*place, persist=self.persists(snapshot))
        except NoAnswer:
            # the same sentence at every key would help nobody
            if automatic:
                return []
            raise
        self.uptake.shown(snapshot.document.uri, suggestions)
        self.on_state()
        self.embed()
        return suggestions

    @property
    def paused(self) -> Scope | None:
        """Whether nothing comes by itself; a look at the disk, since another window may have said so."""
        return self._pause.look()

    def pause(self, scope: Scope, *, on: bool) -> Scope | Literal[False]:
        """Let nothing come by itself any more, or again; what holds then."""
        self._pause.set(scope, on=on)
        if on and self._completer:
            self._completer.close()
        return self.paused or False

    def warm(self, uri: str, offset: int | None = None) -> None:
        """The user has come to this place, by default where they last were: prepare for a completion there."""
        if uri not in self.documents:
            return
        if offset is not None:
            self._cursors[uri] = offset
            if self._recent:
                snapshot = self.snapshot(uri)
                self._recent.record_view(uri, snapshot.path, snapshot.document.line_of(offset))
        wanted = self.config.completion.enabled and self.config.completion.warm and not self.paused
        if self.eager and self.trusted and wanted:
            # not now: the message under way comes first, and there may be much to import
            asyncio.get_running_loop().call_soon(self._warm, uri)

    def _warm(self, uri: str) -> None:
        if uri in self.documents:
            snapshot = self.snapshot(uri)
            offset = min(self._cursors.get(uri, 0), len(snapshot.document.data))
            # what is wrong with the settings the request itself will tell
            with suppress(HarnessError):
                self.completer.warm(
                    *(snapshot.document, self.tree(snapshot), offset, snapshot.path),
                    seen=uri in self._cursors,
                    persist=self.persists(snapshot),
                )

    def persists(self, snapshot: Snapshot) -> bool:
        """Whether the engine may write what it makes of a document to disk."""
        return self.trusted and snapshot.root is not None

    def accepted(self, uri: str, suggestion_id: str) -> None:
        """The user took a suggestion: verify what it made of the document."""
        shown = self._completer.given(uri, suggestion_id) if self._completer else None
        self.uptake.accepted(uri, suggestion_id)
        self.on_state()
        if shown and uri in self.documents:
            snapshot = self.snapshot(uri)
            self.watch.start(shown.document, snapshot)
            new = encode(shown.suggestion.text)
            if snapshot.document.data[shown.suggestion.start :].startswith(new):
                self.warm(uri, shown.suggestion.start + len(new))

    def dismissed(self, uri: str, suggestion_id: str) -> None:
        """The user took a suggestion off the screen: nothing comes by itself there for a while."""
        if self._completer:
            self._completer.dismissed(uri, suggestion_id)
        self.uptake.dismissed(uri, suggestion_id)
        self.on_state()

    # -- edits
    def refusal(self, snapshot: Snapshot, *, model: bool = True) -> HarnessError | None:
        """Why nothing is done to this text, as the error to raise; one that is kept from the `model` will do without."""
        if not self.trusted:
            return UsageError("this workspace is not trusted, so there are only completions; trust it in the editor")
        if snapshot.document.binary:
            return NotText(f"{snapshot.path} is a binary file, not a text file")
        if unparsed := self._parsed.why_not(snapshot.document.uri):
            return NoAnswer(f"{snapshot.path} has no syntax tree to check an edit with: {unparsed}")
        why = self.kept_from_model(snapshot) if model else ""
        return NoAnswer(f"{snapshot.path} is {why}") if why else None

    def check(self, snapshot: Snapshot, *, model: bool = True) -> None:
        """Raises UsageError, NotText or NoAnswer where nothing is done to this text."""
        if error := self.refusal(snapshot, model=model):
            raise error

    def job(self, snapshot: Snapshot, report: Report, output: "Digest | None" = None) -> "Job":
        """The next turn of the session, and what its work may use, for a text that was checked."""
        from lsp_harness.coding.turn_context import Job
        from lsp_harness.context.sources.related_code import RelatedCode

        turn = self.log.turn(keep=not self.kept_from_model(snapshot))
        failing = output.failing_tests if output else frozenset[str]()
        related = RelatedCode(self.known or self.indexes, self.engine.count, failing, self.near or self._near)
        return Job(
            *(self.engine, self.config, self.ruff, turn, snapshot.document, snapshot.tool_path),
            *(snapshot.root, snapshot.path, report, related, self.persists(snapshot)),
            installed=self.installed if self.config.knowledge.enabled else None,
            output=output,
            session=tuple(self.log.summary.about(snapshot.path, self.kept.in_workspace)),
        )

    async def offers(self, snapshot: Snapshot, findings: Sequence[Finding]) -> list[Offer]:
        """At once: what could be done about these diagnostics."""
        if self.refusal(snapshot, model=False):
            return []
        tree = self.tree(snapshot) if self.config.generation.repairs else None
        packages = self.installed if self.config.knowledge.enabled else None
        previews = diagnosis.Previews(snapshot, tree, self.known or self.indexes, packages) if tree else None
        return await diagnosis.offers(snapshot, findings, self.ruff, previews, model=not self.refusal(snapshot))

    async def fix(self, snapshot: Snapshot, offer: Offer, report: Report, output: "Digest | None" = None) -> Proposal:
        """Compute and verify a fix. Raises NoAnswer, Stale (the document moved on), EngineError, NotText, UsageError."""
        from lsp_harness.coding.fix import Fix

        await self.parsed(snapshot)
        self.check(snapshot, model=offer.how == "model")
        given = await diagnosis.given(snapshot, offer, self.ruff)
        job = self.job(snapshot, report, output)
        try:
            return self.proposals.give(job, await Fix(job, offer.finding, not self.refusal(snapshot)).run(given))
        finally:
            self.embed()

    def applied(self, uri: str, proposal_id: str) -> None:
        """The edit of a proposal is in the document: verify the result. Telling it twice is fine."""
        known = self._proposals.take(proposal_id) if self._proposals else None
        if known and uri in self.documents:
            self.watch.start(known.before, self.snapshot(uri))

    # -- index
    def index(self) -> None:
        """Have the workspace folders indexed from now on; of a workspace that is not trusted nothing is read."""
        wanted = self.eager and self.trusted and self.config.index.enabled
        self.indexes.keep(self.roots if wanted else (), follow=self.config.index.update_on_save)

    def written(self, uri: str) -> None:
        """A file may be another one on disk than it was."""
        if self._indexes and (file := local_path(uri)):
            self._indexes.changed(file)

    # -- findings
    def held(self, document: Document) -> Held:
        """What is held against this version of a document now, for pull diagnostics; it may be closed by then."""
        return self._watch.held(document) if self._watch else Held(document.version)

    def name_of(self, proposal: Proposal) -> str:
        """The verdict of a proposal, by name."""
        return verdict_document.name_of(self.log, proposal.turn)

    def verdict(self, name: str) -> str:
        """The document that tells what was tried and checked, in Markdown. Raises UsageError."""
        return verdict_document.document(name, self._log)

    def state(self) -> dict[str, Any]:
        """How things stand, known without asking anybody."""
        engine = self.engines.state()
        # the settings do not know what a server of somebody else's has loaded
        theirs = engine["model"] if self.config.engine.url else None
        return {
            **engine,
            "model": self.config.engine.model or theirs or self.config.model.path,
            "paused": self._pause.seen or False,
            "trusted": self.trusted,
            "index": self._indexes.state() if self._indexes else "off",
            "last": (self._completer.last if self._completer else None) or None,
            "unparsed": self._parsed.refused(),
            "statistics": asdict(self.uptake.counts),
        }

    async def status(self) -> dict[str, Any]:
        """Return the state of the engine if it is in use, the last completion, the log, and the documents without a syntax tree."""
        return {
            "engine": await self.engines.described(),
            "completion": self._completer.last if self._completer else None,
            "log": str(self._log.path) if self._log else None,
            "unparsed": self._parsed.refused(),
        }

    async def aclose(self) -> None:
        """Stop background work and let go of the engine. Raises EngineError if that did not end well."""
        await self._parsed.aclose()
        for part in (self._indexes, self._watch, self._completer):
            if part:
                await part.aclose()
        if self._log:
            self._log.close()
        self.uptake.flush()
        await self.engines.aclose()

    # -- parts, made when first needed
    @property
    def kept(self) -> "Kept":
        if self._kept is None:
            from lsp_harness.files.private_files import Kept

            self._kept = Kept(self.roots)
        return self._kept

    @property
    def engine(self) -> "Observed":
        return self.engines.of(self.config)

    @property
    def completer(self) -> "Completer":
        if self._completer is None:
            from lsp_harness.completion.completer import Completer
            from lsp_harness.completion.policy.trigger_policy import Restraint
            from lsp_harness.context.repository_context import RepositoryContext
            from lsp_harness.context.sources.recent_edits import RecentEdits

            restraint = Restraint(self.config.quiet, self._typed, self.kept.why)
            # from now on there is somebody to ask for it
            self._recent = RecentEdits(self.documents.find, self.kept.why)
            elsewhere = RepositoryContext(self.known or self.indexes, self.engine.count, self._recent)
            settings, eager = self.config.completion, self.eager and self.trusted
            self._completer = Completer(self.engine, settings, restraint, eager=eager, elsewhere=elsewhere)
        return self._completer

    @property
    def ruff(self) -> "Ruff":
        if self._ruff is None:
            from lsp_harness.harness.untrusted_linter import ruff

            self._ruff = ruff(trusted=self.trusted)
        return self._ruff

    @property
    def watch(self) -> "Watch":
        if self._watch is None:
            from lsp_harness.harness.accepted_edits import Watch

            publish: Published = lambda uri, held: self.on_findings(uri, held)
            places = (self.documents, self.ruff, self.config.verification)
            self._watch = Watch(*places, publish, lambda: self.log, self.kept.why)
        return self._watch

    @property
    def log(self) -> "SessionLog":
        if self._log is None:
            from lsp_harness.session.log import SessionLog

            self._log = SessionLog(keep=self.trusted)
        return self._log

    @property
    def indexes(self) -> "Indexes":
        if self._indexes is None:
            from lsp_harness.harness.folder_indexes import Indexes
            from lsp_harness.workspace.edited_texts import OpenedTexts

            opened = OpenedTexts(self._edited, self.tree, self.declarations)
            self._indexes = Indexes(self._heard, lambda: self.engine, lambda: self.config.index, opened.of)
        return self._indexes

    @property
    def installed(self) -> "Installed":
        if self._installed is None:
            from lsp_harness.knowledge.installed_packages import Installed

            self._installed = Installed(python=self.config.knowledge.python)
        return self._installed

    def _heard(self, root: Path, said: "Said") -> None:
        # who has asked for nothing yet has no log, and nobody listens
        if self._log and said["state"] == "ready" and (paths := said["parsed"] + said["dropped"]):
            ms = round(1000 * said["seconds"])
            self._log.tell("index.updated", folder=root.name, paths=paths, files=said["files"], ms=ms)
        self.on_indexing(root, said)
        self.on_state()
        if said["state"] == "ready":
            self.embed()

    def embed(self) -> None:
        """Have what is new in the indexes embedded, if the engine is in use; a whole workspace is sent to none of others."""
        if self._indexes and self.engines.own(self.config) and self.engines.state()["engine"] in ("ready", "busy"):
            self._indexes.embed()

    async def _near(self, uri: str, task: str) -> Sequence[bytes]:
        return await self.indexes.near(uri, task) if self.engines.own(self.config) else ()

    @property
    def proposals(self) -> "Proposals":
        if self._proposals is None:
            from lsp_harness.harness.proposals import Proposals

            self._proposals = Proposals(self.documents)
        return self._proposals
